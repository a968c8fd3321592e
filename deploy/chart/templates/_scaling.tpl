{{- /*
How many workers. With autoscaling the number is the scaler's: an upgrade leaves what it finds. It is not left out, for
Kubernetes would set 1 where an earlier revision of the release named a number. No autoscaler wakes a deployment of 0.
*/ -}}
{{- define "caesura.replicas" -}}
{{- if .Values.autoscaling.enabled -}}
{{- $found := lookup "apps/v1" "StatefulSet" .Release.Namespace (include "caesura.fullname" .) | default dict -}}
{{- dig "spec" "replicas" 0 $found | default .Values.autoscaling.minReplicas | int -}}
{{- else -}}
{{- .Values.replicas -}}
{{- end -}}
{{- end }}

{{- /* How fast the group may grow and shrink: out at once, in slowly, since every change moves partitions. */ -}}
{{- define "caesura.scalingBehavior" -}}
{{- $scaling := .Values.autoscaling -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies:
    - {type: Pods, value: {{ $scaling.scaleOutPods }}, periodSeconds: {{ $scaling.scaleOutPeriodSeconds }}}
scaleDown:
  stabilizationWindowSeconds: {{ $scaling.scaleInStabilizationSeconds }}
  policies:
    - {type: Pods, value: 1, periodSeconds: {{ $scaling.scaleInPeriodSeconds }}}
{{- end -}}
