{{/* The component configuration as JSON, with the place of the Lease and of the certificate. */}}
{{- define "resource-manager.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $election := default (dict) $config.leaderElection -}}
{{- if not $election.resourceNamespace -}}
{{- $election = set $election "resourceNamespace" .Release.Namespace -}}
{{- end -}}
{{- $server := default (dict) $config.server -}}
{{- $webhooks := default (dict) $server.webhooks -}}
{{- $tls := default (dict) $webhooks.tls -}}
{{- if not $tls.serverCertDir -}}
{{- $tls = set $tls "serverCertDir" "/etc/gardener-resource-manager/certificates" -}}
{{- end -}}
{{- $server = set $server "webhooks" (set $webhooks "tls" $tls) -}}
{{- $config = set $config "leaderElection" $election -}}
{{- $config = set $config "server" $server -}}
{{- $config | toRawJson -}}
{{- end -}}

{{/* What permissions depend on, as JSON: the component configuration, and what follows from it. */}}
{{- define "resource-manager.facts" -}}
{{- $facts := include "resource-manager.config" . | fromJson -}}
{{- $election := $facts.leaderElection -}}
{{- if not $election.resourceName -}}
{{- $election = set $election "resourceName" "gardener-resource-manager" -}}
{{- end -}}
{{- $elects := ne (dig "leaderElect" true $election | toString) "false" -}}
{{- $asks := has (dig "controllers" "clusterID" "" $facts) (list "<cluster>" "<default>") -}}
{{- $together := kindIs "invalid" .Values.config.targetClientConnection -}}
{{- $facts = set $facts "installation" (dict "elects" $elects "asksForIdentity" $asks "isItsOwnTarget" $together) -}}
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "resource-manager.field" -}}
{{- $value := .facts -}}
{{- range splitList "." .path -}}
{{- if kindIs "map" $value -}}
{{- $value = get $value . -}}
{{- else -}}
{{- $value = "" -}}
{{- end -}}
{{- end -}}
{{- if kindIs "map" $value -}}
{{- if $value -}}
true
{{- end -}}
{{- else if $value -}}
{{ $value }}
{{- end -}}
{{- end -}}

{{/* Whether a switch is on: of each of its groups one field is set. */}}
{{- define "resource-manager.on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "resource-manager.field" (dict "facts" $.facts "path" .) -}}
{{- $any = true -}}
{{- end -}}
{{- end -}}
{{- $all = and $all $any -}}
{{- end -}}
{{- if $all -}}
true
{{- end -}}
{{- end -}}

{{/* A text, or the value of the field that it names as $(PATH). */}}
{{- define "resource-manager.resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "resource-manager.field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "resource-manager.namespaces" -}}
{{- $connection := default (dict) . -}}
{{- $namespaces := default (list) $connection.namespaces -}}
{{- if not (kindIs "invalid" $connection.namespace) -}}
{{- $namespaces = list $connection.namespace -}}
{{- end -}}
{{- if has "" $namespaces -}}
{{- $namespaces = list -}}
{{- end -}}
{{- $namespaces | uniq | toRawJson -}}
{{- end -}}

{{/* Whether another cluster is looked after than the one of the release. */}}
{{- define "resource-manager.separate" -}}
{{- if not (kindIs "invalid" .Values.config.targetClientConnection) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether any webhook is enabled. */}}
{{- define "resource-manager.serves" -}}
{{- range $section := .Values.config.webhooks -}}
{{- if and (kindIs "map" $section) (eq (get $section "enabled" | toString) "true") -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port of an endpoint: server, its name, its default. */}}
{{- define "resource-manager.port" -}}
{{- $endpoint := default (dict) (get .server .name) -}}
{{- default .default $endpoint.port | int64 -}}
{{- end -}}

{{/* Whether a part is rendered; contradictory values end the rendering. */}}
{{- define "resource-manager.part" -}}
{{- $separate := include "resource-manager.separate" .root -}}
{{- $target := .root.Values.target -}}
{{- if and $separate (not $target.kubeconfigSecret) -}}
{{- fail "target.kubeconfigSecret must name a Secret, as the component configuration has a targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) $target.kubeconfigSecret -}}
{{- fail "target.kubeconfigSecret leads nowhere, as the component configuration has no targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) (eq .root.Values.part "target") -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
{{- $server := (include "resource-manager.config" .root | fromJson).server -}}
{{- $address := default (dict) $server.healthProbes | dig "bindAddress" "" | toString -}}
{{- if regexMatch "^(127\\.|localhost|::1)" $address -}}
{{- fail "config.server.healthProbes.bindAddress must not be a loopback address, as kubelets ask pods at their own addresses" -}}
{{- end -}}
{{- if or (eq .root.Values.part "all") (eq .root.Values.part .part) -}}
{{- if or (eq .part "source") $separate -}}
true
{{- end -}}
{{- end -}}
{{- end -}}
