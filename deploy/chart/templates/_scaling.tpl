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
