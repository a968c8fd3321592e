{{- define "caesura.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimAll "-_." -}}
{{- end }}

{{- define "caesura.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimAll "-_." -}}
{{- else -}}
{{- $name := include "caesura.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- /* A pod's label controller-revision-hash is the name, a dash and ten characters, and ends at 63. */ -}}
{{- $full | trunc 52 | trimAll "-_." -}}
{{- end -}}
{{- end }}

{{- define "caesura.deployment" -}}
{{- ((.Values.settings).worker).deployment | default .Release.Name -}}
{{- end }}

{{- define "caesura.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "caesura.fullname" .) "default") -}}
{{- end }}

{{- define "caesura.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "caesura.selector" -}}
app.kubernetes.io/name: {{ include "caesura.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "caesura.labels" -}}
{{ include "caesura.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: caesura
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimAll "-_." }}
{{- end }}

{{- define "caesura.metricsPort" -}}
{{- ((.Values.settings).worker).http_port | default 9464 | int -}}
{{- end }}

{{- define "caesura.graceSeconds" -}}
{{- $drain := ((.Values.settings).worker).drain_deadline_s | default 20 | float64 | ceil | int -}}
{{- .Values.terminationGracePeriodSeconds | default (add $drain 15) | int -}}
{{- end }}

{{- /* An amount of memory, as Kubernetes writes it, in MiB; empty where it is none. */ -}}
{{- define "caesura.mebibytes" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $amount := kindIs "string" . | ternary . (int64 . | toString) -}}
{{- if regexMatch "^[0-9]+(\\.[0-9]+)?([kMGT]|[KMGT]i)?$" $amount -}}
{{- $number := regexFind "^[0-9.]+" $amount -}}
{{- divf (mulf (float64 $number) (index $units (trimPrefix $number $amount))) 1048576 | floor | int64 -}}
{{- end -}}
{{- end }}

{{- /* Topics by purpose, as the worker names them. */ -}}
{{- define "caesura.topics" -}}
{{- $worker := (.Values.settings).worker | default dict -}}
input: {{ $worker.input_topic | default "asr.words" | quote }}
segment: {{ $worker.segment_topic | default "asr.segments" | quote }}
deadLetter: {{ $worker.dead_letter_topic | default "asr.words.dead" | quote }}
ledger: {{ $worker.ledger_topic | default (printf "%s.ledger" (include "caesura.deployment" .)) | quote }}
{{- with $worker.tentative_topic }}
tentative: {{ . | quote }}
{{- end }}
claims: {{ $worker.claims_topic | default (printf "%s.claims" (include "caesura.deployment" .)) | quote }}
routes:
{{- range $worker.routes }}
  {{- if kindIs "string" . }}
  - {{ regexReplaceAll "^[^=]*=" . "" | splitList ":" | first | quote }}
  {{- else }}
  - {{ .topic | quote }}
  {{- end }}
{{- end }}
{{- end }}
