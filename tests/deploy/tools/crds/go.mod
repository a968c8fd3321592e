// Nothing of this is built: `go mod download` brings the custom resources' definitions of this release.
module caesura.test/crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
