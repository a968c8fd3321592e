// Nothing of this is built: `go mod download` brings the custom resources' definitions of these releases.
module caesura.test/crds

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.21.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
