{{/* The name of the servers and, with something behind it, of the rest: at most 44 characters, for the CronJob, whose pods need room behind it. */}}
{{- define "leaderboard.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains "leaderboard" $name) }}{{ $name = printf "%s-leaderboard" $name }}{{ end -}}
{{- $name | trunc 44 | trimSuffix "-" -}}
{{- end }}

{{/* What objects of this release are found by. */}}
{{- define "leaderboard.selector" -}}
app.kubernetes.io/name: leaderboard
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of objects, but not of pods: servers are not replaced because the chart has another version. */}}
{{- define "leaderboard.labels" -}}
{{ include "leaderboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "leaderboard.secret" -}}
{{- if .Values.secret }}{{ include "leaderboard.name" . }}{{ else }}{{ .Values.existingSecret }}{{ end -}}
{{- end }}

{{/* A variable that comes from the Secret. */}}
{{- define "leaderboard.fromSecret" -}}
valueFrom: {secretKeyRef: {name: {{ include "leaderboard.secret" .root | quote }}, key: {{ .key }}{{ if .optional }}, optional: true{{ end }}}}
{{- end }}

{{/* The part of its specification that every pod has. */}}
{{- define "leaderboard.pod" -}}
serviceAccountName: {{ include "leaderboard.name" . }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The part that every container has. */}}
{{- define "leaderboard.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError # `kubectl describe pod` says why a server was refused
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The specification of the migration, whose hash is in its name: a Job cannot be changed. */}}
{{- define "leaderboard.migrate" -}}
{{ include "leaderboard.pod" . }}
restartPolicy: OnFailure
containers:
  - name: migrate
    {{- include "leaderboard.container" . | nindent 4 }}
    args: [migrate, up]
    env:
      - name: LEADERBOARD_MYSQL_DSN
        {{- include "leaderboard.fromSecret" (dict "root" . "key" "mysql-migrate-dsn") | nindent 8 }}
    resources: {{- toYaml .Values.jobResources | nindent 6 }}
{{- end }}
