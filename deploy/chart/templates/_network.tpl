{{- /*
Ports of a list of addresses, host:port or host alone, and further ones, as the ports of a rule; nothing where there are
none (a socket). Several colons without brackets are an IPv6 address without a port.
Takes: addresses, otherwise (the port of a host alone), more.
*/ -}}
{{- define "caesura.ports" -}}
{{- $ports := list -}}
{{- range .addresses -}}
{{- $address := regexReplaceAll "^[A-Za-z_]+://" (toString . | trim) "" -}}
{{- if and $address (not (hasPrefix "unix:" $address)) -}}
{{- $port := regexFind "(^[^:]*|\\]):[0-9]+$" $address | splitList ":" | last -}}
{{- $ports = append $ports ($port | default $.otherwise | int) -}}
{{- end -}}
{{- end -}}
{{- range .more }}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- range uniq $ports }}
- {protocol: TCP, port: {{ . }}}
{{- end -}}
{{- end }}

{{- /* Traffic of worker and check: out to DNS, Kafka and Redis. A rule without ports would allow every one. */ -}}
{{- define "caesura.egress" -}}
{{- $policy := .Values.networkPolicy -}}
{{- $settings := .Values.settings | default dict -}}
{{- $brokers := ($settings.kafka | default dict).bootstrap_servers | default "" | splitList "," -}}
{{- $redis := ($settings.redis | default dict).addresses -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- with include "caesura.ports" (dict "addresses" $brokers "otherwise" 9092 "more" $policy.kafkaPorts) }}
- ports: {{ . | nindent 4 }}
  {{- with $policy.kafkaTo }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- with include "caesura.ports" (dict "addresses" $redis "otherwise" 6379 "more" $policy.redisPorts) }}
- ports: {{ . | nindent 4 }}
  {{- with $policy.redisTo }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end }}
