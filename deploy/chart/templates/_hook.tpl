{{- /*
A job before a roll-out: it runs a command of the image, with the settings of the worker. A hook runs before the
release's own objects are there, so it brings account and policy of its own.
Takes: root, what (name of the command), args, hook, weight, values (timeoutSeconds, resources).
*/ -}}
{{- define "caesura.hook" -}}
{{- $root := .root -}}
{{- $name := printf "%s-%s" (include "caesura.fullname" $root) .what }}
{{- $before := sub (int .weight) 10 }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  labels: {{ include "caesura.labels" $root | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-weight: {{ $before | quote }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
automountServiceAccountToken: false
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}
  labels: {{ include "caesura.labels" $root | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-weight: {{ $before | quote }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  podSelector:
    matchLabels: {{ include "caesura.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .what }}
  policyTypes: [Ingress, Egress]
  egress: {{ include "caesura.egress" $root | nindent 4 }}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  labels: {{ include "caesura.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .what }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-weight: {{ .weight | quote }}
    # One that failed stays, so that its log can be read.
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 1
  activeDeadlineSeconds: {{ .values.timeoutSeconds }}
  template:
    metadata:
      labels: {{ include "caesura.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .what }}
    spec:
      {{- include "caesura.podBasics" (dict "root" $root "account" $name) | nindent 6 }}
      restartPolicy: Never
      containers:
        - name: {{ .what }}
          image: {{ include "caesura.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: {{ .args | toJson }}
          env:
            {{- include "caesura.settingsEnv" $root | nindent 12 }}
            {{- include "caesura.env" $root | nindent 12 }}
          resources: {{ toYaml .values.resources | nindent 12 }}
          securityContext: {{ include "caesura.containerSecurity" $root | nindent 12 }}
          volumeMounts: {{ include "caesura.volumeMounts" $root | nindent 12 }}
{{- end -}}
