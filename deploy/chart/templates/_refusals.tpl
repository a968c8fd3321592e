{{- /* What the values' schema cannot say: every reason at once, each with the way out. */ -}}
{{- define "caesura.refuse" -}}
{{- $why := list -}}
{{- $values := .Values -}}
{{- $settings := $values.settings | default dict -}}
{{- $worker := $settings.worker | default dict -}}
{{- $kafka := $settings.kafka | default dict -}}
{{- $redis := $settings.redis | default dict -}}

{{- if not $values.image.repository -}}
{{- $why = append $why "image.repository: say where you pushed the image that deploy/image builds" -}}
{{- end -}}
{{- if not $kafka.bootstrap_servers -}}
{{- $why = append $why "settings.kafka.bootstrap_servers: say where Kafka is (host:port, separated by commas)" -}}
{{- end -}}
{{- if not $redis.addresses -}}
{{- $why = append $why "settings.redis.addresses: say where Redis is (a list of host:port)" -}}
{{- end -}}
{{- if not (regexMatch "^[a-z0-9][a-z0-9-]{0,31}$" (include "caesura.deployment" .)) -}}
{{- $why = append $why (printf "settings.worker.deployment: set it, the release's name %q cannot be one (1 to 32 of a-z 0-9 -)" .Release.Name) -}}
{{- end -}}
{{- /* What the API server would refuse of names made of this one, when half of the release is there. */ -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" (include "caesura.fullname" .)) -}}
{{- $why = append $why (printf "the release's name %q: objects cannot be named after it (a-z 0-9 and -, a letter first); take another, or set fullnameOverride and settings.worker.deployment" .Release.Name) -}}
{{- end -}}
{{- range $path := list "kafka.ssl_key_password" "kafka.sasl_password" "kafka.oauth_client_secret" "redis.password" "redis.sentinel_password" "redis.tls_key_password" "serve.token" -}}
{{- $parts := splitList "." $path -}}
{{- if hasKey (index $settings (first $parts) | default dict) (last $parts) -}}
{{- $why = append $why (printf "settings.%s: it is a secret; put it into a Secret and name that: secrets: {%s: {name: ..., key: ...}}" $path $path) -}}
{{- end -}}
{{- end -}}
{{- range $path, $_ := $values.secrets -}}
{{- $parts := splitList "." $path -}}
{{- if hasKey (index $settings (first $parts) | default dict) (last $parts) -}}
{{- $why = append $why (printf "secrets.%s: it is given under settings too" $path) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $worker "ordinal" -}}
{{- $why = append $why "settings.worker.ordinal: every pod takes its own from its place in the StatefulSet; firstOrdinal says where they begin" -}}
{{- end -}}
{{- if hasKey $kafka "group_instance_id" -}}
{{- $why = append $why "settings.kafka.group_instance_id: one id for all pods would let each throw out the other; set staticMembership" -}}
{{- end -}}
{{- if and (hasKey $worker "http_port") (eq (int $worker.http_port) 0) -}}
{{- $why = append $why "settings.worker.http_port: the probes need it; it cannot be 0 here" -}}
{{- end -}}
{{- if regexMatch "^(127\\.|\\[?::1\\]?$|localhost$)" ($worker.http_host | default "") -}}
{{- $why = append $why (printf "settings.worker.http_host: nothing outside the pod reaches %s, so every probe would fail; leave it out" $worker.http_host) -}}
{{- end -}}
{{- if $values.staticMembership -}}
{{- if eq ($kafka.group_protocol | default "classic") "consumer" -}}
{{- $why = append $why "staticMembership: needs the classic group_protocol; under KIP-848 a killed member's id is refused until its session ends" -}}
{{- end -}}
{{- if $values.autoscaling.enabled -}}
{{- $why = append $why "staticMembership: not with autoscaling; the partitions of a pod that was scaled in stay unread until its session ends" -}}
{{- end -}}
{{- end -}}
{{- if not (dig "limits" "cpu" "" $values.resources) -}}
{{- $why = append $why "resources.limits.cpu: the engine takes its threads from it; without one it takes every core of the node" -}}
{{- end -}}
{{- if not (dig "limits" "memory" "" $values.resources) -}}
{{- $why = append $why "resources.limits.memory: set it; a worker that grows must not take the node's memory" -}}
{{- end -}}
{{- /* A process with its models before it keeps anything for a session: docs/capacity.md. */ -}}
{{- $base := 512 -}}
{{- $engine := kindIs "invalid" $worker.engine_memory_mib | ternary 512 $worker.engine_memory_mib | int -}}
{{- with dig "limits" "memory" "" $values.resources -}}
{{- with include "caesura.mebibytes" . -}}
{{- if gt (add $engine $base | int64) (int64 .) -}}
{{- $why = append $why (printf "resources.limits.memory: %s MiB are less than settings.worker.engine_memory_mib (%d MiB) and about %d MiB for the process and its models; a worker would be killed for memory (docs/capacity.md)" . $engine $base) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $drain := $worker.drain_deadline_s | default 20 | float64 -}}
{{- if le (include "caesura.graceSeconds" . | float64) $drain -}}
{{- $why = append $why (printf "terminationGracePeriodSeconds: must be above worker.drain_deadline_s (%v), or a worker is killed while it drains" $drain) -}}
{{- end -}}
{{- $scaling := $values.autoscaling -}}
{{- if $scaling.enabled -}}
{{- if lt (int $scaling.partitions) 1 -}}
{{- $why = append $why "autoscaling.partitions: say how many partitions the input topic has" -}}
{{- else if gt (int $scaling.maxReplicas) (int $scaling.partitions) -}}
{{- $why = append $why (printf "autoscaling.maxReplicas: %d workers for %d partitions; the others would have nothing to do" (int $scaling.maxReplicas) (int $scaling.partitions)) -}}
{{- end -}}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) -}}
{{- $why = append $why "autoscaling.minReplicas: is above maxReplicas" -}}
{{- end -}}
{{- end -}}
{{- if and $scaling.enabled (eq $scaling.by "hpa") $scaling.prometheusAddress -}}
{{- $why = append $why "autoscaling.prometheusAddress: a HorizontalPodAutoscaler scales by CPU alone; KEDA (by: keda) asks Prometheus" -}}
{{- end -}}
{{- if and $values.monitoring.podMonitor.enabled $values.monitoring.serviceMonitor.enabled -}}
{{- $why = append $why "monitoring.serviceMonitor: with podMonitor every figure would be read twice; enable one" -}}
{{- end -}}
{{- if and $values.topics.create $values.strimzi.topics.enabled -}}
{{- $why = append $why "topics.create: Strimzi's operator makes the topics (strimzi.topics); enable one" -}}
{{- end -}}
{{- if and $values.topics.create $scaling.enabled (ne (int $values.topics.partitions) (int $scaling.partitions)) -}}
{{- $why = append $why "autoscaling.partitions: differs from topics.partitions" -}}
{{- end -}}
{{- $strimzi := $values.strimzi -}}
{{- if and (or $strimzi.topics.enabled $strimzi.user.enabled $strimzi.operatorUser.enabled) (not $strimzi.cluster) -}}
{{- $why = append $why "strimzi.cluster: say the name of the Kafka resource" -}}
{{- end -}}
{{- if and $strimzi.topics.enabled (gt (int $strimzi.topics.minInsyncReplicas) (int $strimzi.topics.replicas)) -}}
{{- $why = append $why "strimzi.topics.minInsyncReplicas: is above replicas, so nothing could be written" -}}
{{- end -}}
{{- if and $strimzi.topics.enabled $scaling.enabled (ne (int $strimzi.topics.partitions) (int $scaling.partitions)) -}}
{{- $why = append $why "autoscaling.partitions: differs from strimzi.topics.partitions" -}}
{{- end -}}
{{- $own := include "caesura.labels" . | fromYaml -}}
{{- range $name, $_ := $values.podLabels -}}
{{- if or (hasKey $own $name) (eq $name "app.kubernetes.io/component") -}}
{{- $why = append $why (printf "podLabels: %s is the chart's own; with another value the pods would not be found" $name) -}}
{{- end -}}
{{- end -}}
{{- range $values.extraEnv -}}
{{- if hasPrefix "CAESURA_" .name -}}
{{- $why = append $why (printf "extraEnv: %s is a setting; it goes under settings or secrets" .name) -}}
{{- end -}}
{{- end -}}
{{- with $why }}
{{- fail (printf "\n\nThese values cannot be installed:\n  - %s\n" (join "\n  - " .)) }}
{{- end -}}
{{- end }}
