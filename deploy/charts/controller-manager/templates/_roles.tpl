{{/*
The rules of roles for each place, as JSON: an object of places, the empty one for what is granted everywhere, each an
object of rules by what they are about.
*/}}
{{- define "controller-manager.rules" -}}
{{- $facts := include "controller-manager.facts" .root | fromJson -}}
{{- $namespaces := .namespaces -}}
{{- $clusters := .clusters -}}
{{- $places := dict -}}
{{- $text := .root.Files.Get "files/permissions.json" -}}
{{- if eq "self" (include "controller-manager.provision" .root) -}}
{{- $where := "providesHere" -}}
{{- $_ := set $facts.installation $where true -}}
{{- end -}}
{{- range $feature := $text | fromJsonArray -}}
{{- if include "controller-manager.on" (dict "facts" $facts "when" $feature.when) -}}
{{- range $permission := $feature.permissions -}}
{{- if has $permission.cluster $clusters -}}
{{- $names := list -}}
{{- range $permission.names -}}
{{- $names = append $names (include "controller-manager.resolved" (dict "facts" $facts "text" .)) -}}
{{- end -}}
{{- if and $namespaces (not $names) (eq $permission.group "") (eq $permission.resource "namespaces") -}}
{{- $names = $namespaces -}}
{{- end -}}
{{- $where := list "" -}}
{{- $namespace := include "controller-manager.resolved" (dict "facts" $facts "text" (default "" $permission.namespace)) -}}
{{- if $namespace -}}
{{- $where = list $namespace -}}
{{- else if and $namespaces $permission.namespaced -}}
{{- $where = $namespaces -}}
{{- end -}}
{{- $about := concat (list $permission.group $permission.resource) $names | join "|" -}}
{{- range $place := $where -}}
{{- $rules := default (dict) (get $places $place) -}}
{{- $rule := default (dict "apiGroups" (list $permission.group) "resources" (list $permission.resource)) (get $rules $about) -}}
{{- $rule = set $rule "verbs" (concat (default (list) $rule.verbs) $permission.verbs | uniq | sortAlpha) -}}
{{- if $names -}}
{{- $rule = set $rule "resourceNames" $names -}}
{{- end -}}
{{- $places = set $places $place (set $rules $about $rule) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $places | toRawJson -}}
{{- end -}}

{{/* A binding of a role to a subject: root, place, what the role is for, its kind, the subject. */}}
{{- define "controller-manager.binding" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if .place }}RoleBinding{{ else }}ClusterRoleBinding{{ end }}
metadata:
  name: {{ include "controller-manager.role" . }}
  {{- with .place }}
  namespace: {{ . }}
  {{- end }}
  {{- include "controller-manager.marks" (dict "root" .root) | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ include "controller-manager.role" . }}
subjects:
- {{ .subject | toRawJson }}
{{ end -}}

{{/*
All roles in one cluster: root, the roles that it plays, what they are for, the subject, the namespaces that are looked
after.
*/}}
{{- define "controller-manager.roles" -}}
{{- range $place, $rules := include "controller-manager.rules" . | fromJson }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $place }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: {{ include "controller-manager.role" $ }}
  {{- with $place }}
  namespace: {{ . }}
  {{- end }}
  {{- include "controller-manager.marks" (dict "root" $.root) | nindent 2 }}
rules:
{{- range $rules }}
- {{ . | toRawJson }}
{{- end }}
{{ include "controller-manager.binding" (dict "root" $.root "place" $place "what" $.what "kind" (ternary "Role" "ClusterRole" (ne $place "")) "subject" $.subject) }}
{{- end }}
{{- end -}}
