/**
 * `npm run check:deployment` checks the files that others start the service with. Helm lints and renders the
 * chart, with everything on and with as little as possible, and refuses wrong values. The rendered pods have
 * no rights that they do not need, paths that the contract has, and variables that the documentation has.
 * systemd verifies the unit. The module for Terraform is read, and has two processes, a database that can be
 * lost, and no secret in its state; a provider checks its arguments where Terraform can load one (CI). Helm and
 * the reader of HCL are installed by their exact versions; Go and systemd must be there.
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { ROOT } from './clients/paths.ts'
import { run } from './clients/run.ts'
import {
  CHART,
  type Container,
  installHelm,
  lint,
  type Manifest,
  type Pod,
  render,
} from './deployment/helm.ts'
import { MODULE, problemsOf, readModule } from './deployment/terraform.ts'

const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8')

const LEAST = { existingSecret: 'relayer', config: { networks: [] } }
const ALL = parse(read(`${CHART}/ci/all-values.yaml`)) as Record<string, unknown>

/** Values that the chart refuses, each with what it must say. */
const WRONG: readonly (readonly [object, string])[] = [
  [{ config: {} }, '/existingSecret'],
  [{ ...LEAST, replicas: 3 }, 'replicas'],
  [{ ...LEAST, replicaCount: 0 }, '/replicaCount'],
  [{ ...LEAST, env: { DATABASE_URL: 'postgres://user:password@host/db' } }, 'DATABASE_URL'],
  [{ ...LEAST, image: { digest: 'latest' } }, '/image/digest'],
  [{ ...LEAST, plugins: { enabled: true } }, '/plugins/volume'],
]

/** Changes of the module for Terraform that the check must find, each with what it must say. */
const WRONG_MODULES: readonly (readonly [string, string, string])[] = [
  ['"min_instance_count":2', '"min_instance_count":1', 'instead of two'],
  ['"google_sql_database":', '"google_sql_user":', 'a secret into the state'],
  ['/api/v1/ready', '/ready', 'which the contract does not have'],
  ['var.region', 'var.zone', 'nothing is called var.zone'],
  ['RELAYER_SHUTDOWN_SECONDS', 'SHUTDOWN_SECONDS', 'does not have SHUTDOWN_SECONDS'],
  ['"ipv4_enabled":false', '"ipv4_enabled":true', 'a public address'],
]

const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

const UNIT = 'ops/systemd/relayer.service'

/** The most that `systemd-analyze security` may count: networks, and memory that V8 executes, are needed. */
const MOST_EXPOSURE = 2

const problems: string[] = []
const expectThat = (holds: boolean, problem: string) => {
  if (!holds) problems.push(problem)
}

function checkPods(manifests: readonly Manifest[]): void {
  for (const { metadata, spec } of manifests) {
    if (spec?.template === undefined) continue
    const { name } = metadata
    const { metadata: own, spec: pod } = spec.template
    checkPod(name, pod)
    const { matchLabels = {} } = spec.selector ?? {}
    for (const [label, value] of Object.entries(matchLabels))
      expectThat(own.labels[label] === value, `${name}: its pods lack the label ${label} of its selector`)
  }
}

function checkPod(name: string, pod: Pod): void {
  expectThat(pod.securityContext?.runAsNonRoot === true, `${name} may run as root`)
  expectThat(pod.automountServiceAccountToken === false, `${name} has a token of Kubernetes`)
  expectThat(pod.enableServiceLinks === false, `${name} gets the variables of services`)
  const volumes = new Map(pod.volumes.map((volume) => [volume.name, volume]))
  for (const container of pod.containers) {
    checkContainer(name, container)
    for (const { name: volume, readOnly } of container.volumeMounts) {
      expectThat(volumes.has(volume), `${name} mounts ${volume}, which it does not have`)
      const mayWrite = volumes.get(volume)?.emptyDir !== undefined
      expectThat(mayWrite || readOnly === true, `${name} may write to ${volume}`)
    }
  }
}

const PATHS = (parse(read('openapi.yaml')) as { readonly paths: object }).paths
const CONFIGURATION = read('docs/configuration.md')
/** Variables that plugins name, which the service does not have. */
const OF_PLUGINS = (ALL.plugins as { readonly secretEnv: readonly string[] }).secretEnv

function checkContainer(name: string, container: Container): void {
  expectThat(
    isDeepStrictEqual(container.securityContext, CONTAINER_SECURITY),
    `${name}: the container has more rights than it needs`,
  )
  for (const [key, value] of Object.entries(container))
    if (key.endsWith('Probe')) {
      const { path } = (value as Container['livenessProbe']).httpGet
      expectThat(path in PATHS, `${name}: the ${key} asks for ${path}, which the contract does not have`)
    }
  for (const { name: variable } of container.env ?? [])
    expectThat(
      CONFIGURATION.includes(`\`${variable}\``) || OF_PLUGINS.includes(variable),
      `${name}: docs/configuration.md does not have ${variable}`,
    )
}

/** Two objects of one kind and name would replace each other. */
function checkNames(manifests: readonly Manifest[]): void {
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  expectThat(new Set(names).size === names.length, `two objects have one name: ${names.sort().join(', ')}`)
}

await installHelm()
for (const values of [LEAST, ALL]) {
  await lint(values)
  const manifests = await render(values)
  checkPods(manifests)
  checkNames(manifests)
  console.log(`rendered: ${manifests.map(({ kind }) => kind).join(', ')}`)
}
for (const [values, said] of WRONG) {
  const refusal = await render(values).then(
    () => undefined,
    (error: Error) => error.message,
  )
  expectThat(
    refusal?.includes(said) === true,
    `${JSON.stringify(values)} is ${refusal === undefined ? 'accepted' : `refused without "${said}": ${refusal}`}`,
  )
}
await run(['systemd-analyze', 'verify', UNIT])
const [, exposure] =
  /exposure level for \S+: ([\d.]+)/.exec(
    await run(['systemd-analyze', 'security', '--offline=true', UNIT]),
  ) ?? []
expectThat(Number(exposure) <= MOST_EXPOSURE, `${UNIT}: systemd counts an exposure of ${exposure}`)

const module = await readModule()
const known = { paths: PATHS, isVariable: (name: string) => CONFIGURATION.includes(`\`${name}\``) }
for (const problem of problemsOf(module, known)) problems.push(`${MODULE}: ${problem}`)
for (const [right, wrong, said] of WRONG_MODULES) {
  const found = problemsOf(JSON.parse(JSON.stringify(module).replaceAll(right, wrong)), known)
  expectThat(
    found.some((one) => one.includes(said)),
    `${MODULE}: ${wrong} is not found`,
  )
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else
  console.log(
    `the chart and the module for Terraform are as they should be, and the unit has an exposure of ${exposure} of 10`,
  )
