{{/* An object with defaults for what it leaves out or leaves empty, as JSON: stated, defaults. */}}
{{- define "seed-extensions.filled" -}}
{{- $filled := dict -}}
{{- if kindIs "map" .stated -}}
{{- $filled = deepCopy .stated -}}
{{- end -}}
{{- range $name, $default := .defaults -}}
{{- $stated := get $filled $name -}}
{{- if kindIs "map" $default -}}
{{- $filled = set $filled $name (include "seed-extensions.filled" (dict "stated" $stated "defaults" $default) | fromJson) -}}
{{- else if not (kindIs "bool" $stated) -}}
{{- $filled = set $filled $name (default $default $stated) -}}
{{- end -}}
{{- end -}}
{{- $filled | toRawJson -}}
{{- end -}}

{{/* The component configuration as JSON, with what only the release knows, such as the namespace of the Lease. */}}
{{- define "seed-extensions.config" -}}
{{- $text := .Files.Get "files/configuration.json" | replace "release-namespace" .Release.Namespace -}}
{{- $text = replace "name-prefix-hedgerow-seed-extensions" (include "seed-extensions.name" .) $text -}}
{{- $known := $text | fromJson -}}
{{- include "seed-extensions.filled" (dict "stated" .Values.config "defaults" $known.completion) -}}
{{- end -}}

{{/* What objects depend on, as JSON: the component configuration with its defaults, and what follows from it. */}}
{{- define "seed-extensions.facts" -}}
{{- $known := .Files.Get "files/configuration.json" | fromJson -}}
{{- $stated := include "seed-extensions.config" . | fromJson -}}
{{- $facts := include "seed-extensions.filled" (dict "stated" $stated "defaults" $known.defaults) | fromJson -}}
{{- $elects := $facts.leaderElection.leaderElect -}}
{{- if eq $facts.leaderElection.resourceName "hedgerow-seed-extensions" -}}
{{- with (default (dict) (default (dict) $facts.seedConfig).metadata).name -}}
{{- $_ := set $facts.leaderElection "resourceName" (printf "hedgerow-seed-extensions-%s" .) -}}
{{- end -}}
{{- end -}}
{{- $together := kindIs "invalid" .Values.config.targetClientConnection -}}
{{- $facts = set $facts "installation" (dict "elects" $elects "isItsOwnTarget" $together) -}}
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "seed-extensions.field" -}}
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
{{- define "seed-extensions.on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "seed-extensions.field" (dict "facts" $.facts "path" .) -}}
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
{{- define "seed-extensions.resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "seed-extensions.field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "seed-extensions.namespaces" -}}
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
{{- define "seed-extensions.separate" -}}
{{- if not (kindIs "invalid" .Values.config.targetClientConnection) -}}
true
{{- end -}}
{{- end -}}

{{/* Whether a step of the installation is rendered; values that cannot work end the rendering. */}}
{{- define "seed-extensions.part" -}}
{{- $facts := include "seed-extensions.facts" .root | fromJson -}}
{{- range $name := list "controllerInstallation" "controllerInstallationCare" "controllerInstallationRequired" "seedExtensionsCheck" "shootExtensions" -}}
{{- if include "seed-extensions.field" (dict "facts" $facts "path" (printf "controllers.%s.enabled" $name)) -}}
{{- if not (include "seed-extensions.field" (dict "facts" $facts "path" "seedConfig.metadata.name")) -}}
{{- fail "values: config.seedConfig.metadata.name: Required value: is the Seed that controllers work for" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $separate := include "seed-extensions.separate" .root -}}
{{- $target := .root.Values.target -}}
{{- if and $separate (not $target.kubeconfigSecret) -}}
{{- fail "target.kubeconfigSecret must name a Secret, as the component configuration has a targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) $target.kubeconfigSecret -}}
{{- fail "target.kubeconfigSecret leads nowhere, as the component configuration has no targetClientConnection" -}}
{{- end -}}
{{- if and (not $separate) (has .root.Values.part (list "target" "access")) -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
{{- $source := coalesce .root.Values.config.sourceClientConnection .root.Values.config.gardenClientConnection -}}
{{- if $source -}}
{{- if $source.kubeconfig -}}
{{- fail "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: leave it out, as pods have the credentials of their ServiceAccount" -}}
{{- end -}}
{{- end -}}
{{- $server := (include "seed-extensions.facts" .root | fromJson).server -}}
{{- if regexMatch "^(127\\.|localhost|::1)" (default "" $server.healthProbes.bindAddress) -}}
{{- fail "config.server.healthProbes.bindAddress must not be a loopback address, as kubelets ask pods at their own addresses" -}}
{{- end -}}
{{- $steps := dict "process" "source" "access" "target" "registrations" (ternary "target" "source" (ne $separate "")) -}}
{{- if has .root.Values.part (list "all" .step (get $steps .step)) -}}
{{- if or (ne .step "access") $separate -}}
true
{{- end -}}
{{- end -}}
{{- end -}}
