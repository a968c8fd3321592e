"""The shapes of the chart's own values, beside the worker's settings; used by ``values_schema.py``."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_FREE: Schema = {"type": "object"}
_FREE_LIST: Schema = {"type": "array", "items": {"type": "object"}}
_TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_LABEL = "([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)"
_LABELS: Schema = {
    "type": "object",
    "patternProperties": {
        f"^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?{_LABEL}$": {"type": "string", "pattern": f"^{_LABEL}?$"},
    },
    "additionalProperties": False,
}
_NAME: Schema = {"type": "string", "pattern": "^([a-z]([a-z0-9-]*[a-z0-9])?)?$"}
"""What a Service may be called, the strictest of the chart's objects."""
_PORTS: Schema = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65_535}}
_DURATION: Schema = {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"}


def _count(least: int = 0, most: int | None = None) -> Schema:
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def _shape(**properties: Schema) -> Schema:
    shape: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    needed = [name for name, schema in properties.items() if _has_to_be_there(schema)]
    return shape | ({"required": needed} if needed else {})


def _has_to_be_there(schema: Schema) -> bool:
    """Whether templates need a value of this shape: a null takes its default away, and a group's with all in it."""
    return "properties" in schema or "anyOf" in schema or schema.get("type") in ("integer", "number")


def reference(description: str) -> Schema:
    """Return the schema of a reference to a key of a Secret."""
    return {"description": description, **_shape(name=_needed(_TEXT), key=_needed(_TEXT)), "required": ["name", "key"]}


def _needed(text: Schema) -> Schema:
    return {**text, "minLength": 1}


def _tls() -> Schema:
    return _shape(
        ca=_shape(secret=_TEXT, configMap=_TEXT, key=_needed(_TEXT)),
        client=_shape(secret=_TEXT, certificate=_needed(_TEXT), key=_needed(_TEXT)),
    )


def _spread() -> Schema:
    constraint = {
        **_shape(
            topologyKey=_needed(_TEXT),
            maxSkew=_count(1),
            minDomains=_count(1),
            whenUnsatisfiable={"enum": ["ScheduleAnyway", "DoNotSchedule"]},
            nodeAffinityPolicy={"enum": ["Honor", "Ignore"]},
            nodeTaintsPolicy={"enum": ["Honor", "Ignore"]},
            matchLabelKeys={"type": "array", "items": _TEXT},
        ),
        "required": ["topologyKey", "maxSkew", "whenUnsatisfiable"],
    }
    return {"type": "array", "items": constraint}


def _autoscaling() -> Schema:
    return _shape(
        enabled=_FLAG,
        by={"enum": ["keda", "hpa"]},
        minReplicas=_count(1),
        maxReplicas=_count(1),
        partitions=_count(),
        cpuPercent=_count(1, 100),
        oldestUnreadSeconds={"type": "number", "exclusiveMinimum": 0},
        prometheusAddress={"type": "string", "pattern": "^(https?://.+)?$"},
        authenticationName=_TEXT,
        pollingSeconds=_count(5),
        scaleOutPods=_count(1),
        scaleOutPeriodSeconds=_count(1, 1800),
        scaleInStabilizationSeconds=_count(0, 3600),
        scaleInPeriodSeconds=_count(1, 1800),
    )


def _monitoring() -> Schema:
    return _shape(
        podMonitor=_shape(enabled=_FLAG, interval=_DURATION, labels=_LABELS),
        serviceMonitor=_shape(enabled=_FLAG, interval=_DURATION, labels=_LABELS),
        rules=_shape(enabled=_FLAG, labels=_LABELS, runbookUrl={"type": "string", "pattern": "^(https?://[^#]+)?$"}),
        dashboard=_shape(enabled=_FLAG, labels=_LABELS, annotations=_TEXTS),
    )


def _strimzi() -> Schema:
    hours = _count(1, 87_600)
    authentication = {"enum": ["tls", "scram-sha-512"]}
    return _shape(
        cluster=_TEXT,
        namespace=_TEXT,
        topics=_shape(
            enabled=_FLAG,
            input=_FLAG,
            partitions=_count(1),
            replicas=_count(1),
            minInsyncReplicas=_count(1),
            inputRetentionHours=hours,
            outputRetentionHours=hours,
            deadLetterRetentionHours=hours,
        ),
        user=_shape(enabled=_FLAG, authentication=authentication),
        operatorUser=_shape(enabled=_FLAG, authentication=authentication),
    )


def _image() -> Schema:
    return _shape(
        repository={"type": "string", "pattern": "^[^@\\s]*$"},
        tag={"type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$"},
        digest={"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
        pullPolicy={"enum": ["Always", "IfNotPresent", "Never"]},
    )


def chart_values(*, settings: Schema, secrets: Schema) -> Schema:
    """Return the schema of all values, given those of the worker's settings and of its secrets."""
    properties: dict[str, Schema] = {
        "global": _FREE,
        "image": _image(),
        "imagePullSecrets": _FREE_LIST,
        "nameOverride": _NAME,
        "fullnameOverride": _NAME,
        "replicas": _count(),
        "firstOrdinal": _count(0, 9999),
        "settings": settings,
        "secrets": secrets,
        "tls": _shape(kafka=_tls(), redis=_tls()),
        "staticMembership": _FLAG,
        "resources": _shape(requests=_FREE, limits=_FREE, claims=_FREE_LIST),
        "probes": _shape(startupSeconds=_count(10), livenessPeriodSeconds=_count(1), readinessPeriodSeconds=_count(1)),
        "terminationGracePeriodSeconds": {"type": ["integer", "null"], "minimum": 1},
        "minReadySeconds": _count(),
        "updateFromOrdinal": _count(),
        "podDisruptionBudget": _shape(
            enabled=_FLAG, maxUnavailable={"anyOf": [_count(1), {"type": "string", "pattern": "^([1-9][0-9]?|100)%$"}]}
        ),
        "topologySpread": _spread(),
        "affinity": _FREE,
        "nodeSelector": _LABELS,
        "tolerations": _FREE_LIST,
        "priorityClassName": _TEXT,
        "podAnnotations": _TEXTS,
        "podLabels": _LABELS,
        "podSecurityContext": _FREE,
        "serviceAccount": _shape(create=_FLAG, name=_TEXT, annotations=_TEXTS),
        "networkPolicy": _shape(
            enabled=_FLAG,
            metricsFrom=_FREE_LIST,
            kafkaTo=_FREE_LIST,
            redisTo=_FREE_LIST,
            kafkaPorts=_PORTS,
            redisPorts=_PORTS,
            extraEgress=_FREE_LIST,
        ),
        "topics": _shape(
            create=_FLAG,
            partitions=_count(1, 10_000),
            replicas={"type": ["integer", "null"], "minimum": 1},
            retentionDays=_count(1),
            timeoutSeconds=_count(10),
            resources=_FREE,
        ),
        "check": _shape(enabled=_FLAG, timeoutSeconds=_count(10), resources=_FREE),
        "autoscaling": _autoscaling(),
        "monitoring": _monitoring(),
        "strimzi": _strimzi(),
        "redisAcl": _shape(enabled=_FLAG),
        "extraEnv": _FREE_LIST,
        "extraVolumes": _FREE_LIST,
        "extraVolumeMounts": _FREE_LIST,
    }
    shape = _shape(**properties)
    optional = ("settings", "secrets")  # of settings the templates say better what is missing
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Values of the Caesura chart; deploy/values_schema.py writes this file",
        **shape,
        "required": [name for name in shape["required"] if name not in optional],
    }
