{{/* An object with defaults for what it leaves out or leaves empty, as JSON: stated, defaults. */}}
{{- define "rsyslog-relp.filled" -}}
{{- $filled := dict -}}
{{- if kindIs "map" .stated -}}
{{- $filled = deepCopy .stated -}}
{{- end -}}
{{- range $name, $default := .defaults -}}
{{- $stated := get $filled $name -}}
{{- if kindIs "map" $default -}}
{{- $filled = set $filled $name (include "rsyslog-relp.filled" (dict "stated" $stated "defaults" $default) | fromJson) -}}
{{- else if not (kindIs "bool" $stated) -}}
{{- $filled = set $filled $name (default $default $stated) -}}
{{- end -}}
{{- end -}}
{{- $filled | toRawJson -}}
{{- end -}}

{{/* The component configuration as JSON, with what only the release knows, such as the namespace of the Lease. */}}
{{- define "rsyslog-relp.config" -}}
{{- $text := .Files.Get "files/configuration.json" | replace "release-namespace" .Release.Namespace -}}
{{- $known := $text | fromJson -}}
{{- include "rsyslog-relp.filled" (dict "stated" .Values.config "defaults" $known.completion) -}}
{{- end -}}

{{/* What objects depend on, as JSON: the component configuration with its defaults, and what follows from it. */}}
{{- define "rsyslog-relp.facts" -}}
{{- $known := .Files.Get "files/configuration.json" | fromJson -}}
{{- $stated := include "rsyslog-relp.config" . | fromJson -}}
{{- $facts := include "rsyslog-relp.filled" (dict "stated" $stated "defaults" $known.defaults) | fromJson -}}
{{- $elects := $facts.leaderElection.leaderElect -}}
{{- $facts = set $facts "installation" (dict "elects" $elects) -}}
{{- $facts | toRawJson -}}
{{- end -}}

{{/* The value of a field, by its path; empty: it is not set. */}}
{{- define "rsyslog-relp.field" -}}
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
{{- define "rsyslog-relp.on" -}}
{{- $all := true -}}
{{- range $group := .when -}}
{{- $any := false -}}
{{- range $group -}}
{{- if include "rsyslog-relp.field" (dict "facts" $.facts "path" .) -}}
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
{{- define "rsyslog-relp.resolved" -}}
{{- if hasPrefix "$(" .text -}}
{{ include "rsyslog-relp.field" (dict "facts" .facts "path" (.text | trimPrefix "$(" | trimSuffix ")")) }}
{{- else -}}
{{ .text }}
{{- end -}}
{{- end -}}

{{/* The namespaces that a connection is restricted to, as a JSON list; none: it is not restricted. */}}
{{- define "rsyslog-relp.namespaces" -}}
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
{{- define "rsyslog-relp.serves" -}}
{{- range $section := (include "rsyslog-relp.facts" . | fromJson).webhooks -}}
{{- if and (kindIs "map" $section) (eq (get $section "enabled" | toString) "true") -}}
true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a step of the installation is rendered; values that cannot work end the rendering. */}}
{{- define "rsyslog-relp.part" -}}
{{- $separate := "" -}}
{{- if and (not $separate) (has .root.Values.part (list "target" "access")) -}}
{{- fail "the component configuration has no targetClientConnection, so that there is no separate target cluster" -}}
{{- end -}}
{{- if eq "self" (include "rsyslog-relp.provision" .root) -}}
{{- $own := (include "rsyslog-relp.config" .root | fromJson).server.webhooks.tls.self -}}
{{- $known := (.root.Files.Get "files/configuration.json" | fromJson).completion.server.webhooks.tls.self -}}
{{- if ne $own.registrations $known.registrations -}}
{{- fail "config.server.webhooks.tls.self.registrations must be left out, as the installation mounts the file" -}}
{{- end -}}
{{- if ne $own.secretNamespace .root.Release.Namespace -}}
{{- fail "config.server.webhooks.tls.self.secretNamespace must be left out, as the Secret is beside the process" -}}
{{- end -}}
{{- end -}}
{{- $source := coalesce .root.Values.config.clientConnection -}}
{{- if $source -}}
{{- if $source.kubeconfig -}}
{{- fail "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: leave it out, as pods have the credentials of their ServiceAccount" -}}
{{- end -}}
{{- end -}}
{{- $_ := include "rsyslog-relp.registered" .root -}}
{{- $server := (include "rsyslog-relp.facts" .root | fromJson).server -}}
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
