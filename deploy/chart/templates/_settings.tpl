{{- /* Settings as the worker's environment: a dict of variable to text, from `settings` and what the chart derives. */ -}}
{{- define "caesura.settings" -}}
{{- $variables := dict -}}
{{- range $section, $fields := (.Values.settings | default dict) -}}
{{- range $name, $value := ($fields | default dict) -}}
{{- if not (kindIs "invalid" $value) -}}
{{- $text := toJson $value -}}
{{- if kindIs "string" $value -}}
{{- $text = $value -}}
{{- else if and (eq $name "routes") $value (kindIs "string" (first $value)) -}}
{{- /* Written as text (target=topic) the worker takes them separated by commas alone; no name holds one. */ -}}
{{- $text = join "," $value -}}
{{- end -}}
{{- $_ := set $variables (printf "CAESURA_%s_%s" $section $name | upper) $text -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $variables "CAESURA_WORKER_DEPLOYMENT" (include "caesura.deployment" .) -}}
{{- if not (hasKey $variables "CAESURA_WORKER_HTTP_HOST") -}}
{{- $_ := set $variables "CAESURA_WORKER_HTTP_HOST" "0.0.0.0" -}}
{{- end -}}
{{- $tls := .Values.tls -}}
{{- range $part, $prefix := dict "kafka" "CAESURA_KAFKA_SSL_" "redis" "CAESURA_REDIS_TLS_" -}}
{{- $files := index $tls $part -}}
{{- if or $files.ca.secret $files.ca.configMap -}}
{{- $_ := set $variables (printf "%sCA_FILE" $prefix) (printf "/etc/caesura/tls/%s/ca.crt" $part) -}}
{{- end -}}
{{- if $files.client.secret -}}
{{- $_ := set $variables (printf "%sCERTIFICATE_FILE" $prefix) (printf "/etc/caesura/tls/%s/client.crt" $part) -}}
{{- $_ := set $variables (printf "%sKEY_FILE" $prefix) (printf "/etc/caesura/tls/%s/client.key" $part) -}}
{{- end -}}
{{- end -}}
{{- toYaml $variables -}}
{{- end }}

{{- /* The settings as variables of a container. A $ is doubled: Kubernetes reads $(NAME) as another variable's value. */ -}}
{{- define "caesura.settingsEnv" -}}
{{- range $name, $value := include "caesura.settings" . | fromYaml }}
- {name: {{ $name }}, value: {{ $value | replace "$" "$$" | quote }}}
{{- end }}
{{- end }}

{{- /* Variables that are no plain settings: the pod's own, secrets by reference, the operator's. */ -}}
{{- define "caesura.env" -}}
{{- range $path, $reference := .Values.secrets }}
- name: {{ printf "CAESURA_%s" (replace "." "_" $path) | upper }}
  valueFrom:
    secretKeyRef: {name: {{ $reference.name | quote }}, key: {{ $reference.key | quote }}}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "caesura.volumeMounts" -}}
- {name: scratch, mountPath: /tmp}
{{- range $part, $files := .Values.tls }}
{{- if or $files.ca.secret $files.ca.configMap $files.client.secret }}
- {name: tls-{{ $part }}, mountPath: /etc/caesura/tls/{{ $part }}, readOnly: true}
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "caesura.volumes" -}}
- name: scratch
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- range $part, $files := .Values.tls }}
{{- if or $files.ca.secret $files.ca.configMap $files.client.secret }}
- name: tls-{{ $part }}
  projected:
    defaultMode: 0440
    sources:
      {{- if $files.ca.secret }}
      - secret:
          name: {{ $files.ca.secret | quote }}
          items: [{key: {{ $files.ca.key | quote }}, path: ca.crt}]
      {{- else if $files.ca.configMap }}
      - configMap:
          name: {{ $files.ca.configMap | quote }}
          items: [{key: {{ $files.ca.key | quote }}, path: ca.crt}]
      {{- end }}
      {{- if $files.client.secret }}
      - secret:
          name: {{ $files.client.secret | quote }}
          items:
            - {key: {{ $files.client.certificate | quote }}, path: client.crt}
            - {key: {{ $files.client.key | quote }}, path: client.key}
      {{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* What the worker's pod and the check's pod share. Takes a dict: root, account. */ -}}
{{- define "caesura.podBasics" -}}
{{- $root := .root -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
# A Service of this name would put CAESURA_... variables into the pod, and the worker refuses those that it does not know.
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
volumes: {{ include "caesura.volumes" $root | nindent 2 }}
{{- end }}

{{- define "caesura.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
