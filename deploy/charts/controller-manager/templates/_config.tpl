{{/* An object with defaults for what it leaves out or leaves empty, as JSON: stated, defaults. */}}
{{- define "controller-manager.filled" -}}
{{- $filled := dict -}}
{{- if kindIs "map" .stated -}}
{{- $filled = deepCopy .stated -}}
{{- end -}}
{{- range $name, $default := .defaults -}}
{{- $stated := get $filled $name -}}
{{- if kindIs "map" $default -}}
{{- $filled = set $filled $name (include "controller-manager.filled" (dict "stated" $stated "defaults" $default) | fromJson) -}}
{{- else if not (kindIs "bool" $stated) -}}
{{- $filled = set $filled $name (default $default $stated) -}}
{{- end -}}
{{- end -}}
{{- $filled | toRawJson -}}
{{- end -}}

{{/* The component configuration as JSON, with what only the release knows, such as the namespace of the Lease. */}}
{{- define "controller-manager.config" -}}
{{- $text := .Files.Get "files/configuration.json" | replace "release-namespace" .Release.Namespace -}}
{{- $known := $text | fromJson -}}
{{- include "controller-manager.filled" (dict "stated" .Values.config "defaults" $known.completion) -}}
{{- end -}}

{{/* What objects depend on, as JSON: the component configuration with its defaults, and what follows from it. */}}
{{- define "controller-manager.facts" -}}
{{- $known := .Files.Get "files/configuration.json" | fromJson -}}
{{- $stated := include "controller-manager.config" . | fromJson -}}
{{- $facts := include "controller-manager.filled" (dict "stated" $stated "defaults" $known.defaults) | fromJson -}}
{{- $elects := $facts.leaderElection.leaderElect -}}
{{- $facts = set $facts "installation" (dict "elects" $elects) -}}
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "controller-manager.field" -}}
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
{{- define "controller-manager.on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "controller-manager.field" (dict "facts" $.facts "path" .) -}}
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
{{- define "controller-manager.resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "controller-manager.field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "controller-manager.namespaces" -}}
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

{{/* Whether any webhook is enabled. */}}
{{- define "controller-manager.serves" -}}
{{- range $section := (include "controller-manager.facts" . | fromJson).webhooks -}}
{{- if and (kindIs "map" $section) (eq (get $section "enabled" | toString) "true") -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a step of the installation is rendered; values that cannot work end the rendering. */}}
{{- define "controller-manager.part" -}}
{{- $separate := "" -}}
{{- if and (not $separate) (has .root.Values.part (list "target" "access")) -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
{{- if eq "self" (include "controller-manager.provision" .root) -}}
{{- $own := (include "controller-manager.config" .root | fromJson).server.webhooks.tls.self -}}
{{- $known := (.root.Files.Get "files/configuration.json" | fromJson).completion.server.webhooks.tls.self -}}
{{- if ne $own.registrations $known.registrations -}}
{{- fail "config.server.webhooks.tls.self.registrations must be left out, as the installation mounts the file" -}}
{{- end -}}
{{- if ne $own.secretNamespace .root.Release.Namespace -}}
{{- fail "config.server.webhooks.tls.self.secretNamespace must be left out, as the Secret is beside the process" -}}
{{- end -}}
{{- end -}}
{{- $source := coalesce .root.Values.config.sourceClientConnection .root.Values.config.gardenClientConnection -}}
{{- if $source -}}
{{- if $source.kubeconfig -}}
{{- fail "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: leave it out, as pods have the credentials of their ServiceAccount" -}}
{{- end -}}
{{- end -}}
{{- $_ := include "controller-manager.registered" .root -}}
{{- $server := (include "controller-manager.facts" .root | fromJson).server -}}
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
