{{- /* Ports of a list of host:port, and further ones, as the ports of a rule. */ -}}
{{- define "caesura.ports" -}}
{{- $ports := list -}}
{{- range .addresses -}}
{{- $port := regexFind "[0-9]+$" (toString . | trim) -}}
{{- if $port }}{{- $ports = append $ports (int $port) -}}{{- end -}}
{{- end -}}
{{- range .more }}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- range uniq $ports }}
- {protocol: TCP, port: {{ . }}}
{{- end -}}
{{- end }}

{{- /* Traffic of worker and check: out to DNS, Kafka and Redis. */ -}}
{{- define "caesura.egress" -}}
{{- $policy := .Values.networkPolicy -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
- ports: {{ include "caesura.ports" (dict "addresses" (splitList "," .Values.settings.kafka.bootstrap_servers) "more" $policy.kafkaPorts) | nindent 4 }}
  {{- with $policy.kafkaTo }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
- ports: {{ include "caesura.ports" (dict "addresses" .Values.settings.redis.addresses "more" $policy.redisPorts) | nindent 4 }}
  {{- with $policy.redisTo }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end }}
