import { existsSync, readdirSync } from 'node:fs'
import { ROOT } from '../clients/paths.ts'
import { run } from '../clients/run.ts'

/** The example for Google Cloud. */
export const MODULE = 'ops/terraform/google-cloud'

const VERSION = 'v0.6.7'

/** The reader of HCL stays here between runs; `npm ci` removes it. */
const BIN = `${ROOT}node_modules/.cache/hcl2json-${VERSION}`

/** A block of HCL. A block that can be repeated is a list. */
export interface Block {
  readonly [name: string]: Value
}
type Value = string | number | boolean | null | Block | readonly Value[]

/** Reads the files of a module as one: the blocks of a kind by their labels. */
export async function readModule(): Promise<Block> {
  if (!existsSync(`${BIN}/hcl2json`))
    await run(['go', 'install', `github.com/tmccombs/hcl2json@${VERSION}`], { env: { GOBIN: BIN } })
  const files = readdirSync(`${ROOT}${MODULE}`).filter((name) => name.endsWith('.tf'))
  const parts = await Promise.all(files.map((name) => run([`${BIN}/hcl2json`, `${MODULE}/${name}`])))
  return merge(parts.map((part) => JSON.parse(part) as Block))
}

function merge(parts: readonly Block[]): Block {
  const whole: Record<string, Value> = {}
  for (const part of parts)
    for (const [name, value] of Object.entries(part)) {
      const before = whole[name]
      whole[name] = isBlock(before) && isBlock(value) ? merge([before, value]) : value
    }
  return whole
}

function isBlock(value: Value | undefined): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the module may name. */
interface Known {
  /** Paths of the contract. */
  readonly paths: object
  /** True for a variable that the documentation has. */
  readonly isVariable: (name: string) => boolean
}

/** Resources whose arguments are secrets, or whose results are: the state would have them as plain text. */
const SECRETS_IN_STATE = /^(google_secret_manager_secret_version|google_sql_user|random_|tls_)/

/** Tells what is wrong with the module. Pure. */
export function problemsOf(module: Block, { paths, isVariable }: Known): string[] {
  const problems: string[] = []
  const expectThat = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const resources = blockAt(module, 'resource')
  for (const type of Object.keys(resources))
    expectThat(!SECRETS_IN_STATE.test(type), `a ${type} would put a secret into the state`)
  for (const name of unresolved(module)) problems.push(`nothing is called ${name}`)

  const service = blockAt(resources, 'google_cloud_run_v2_service', 'relayer')
  expectThat(service.ingress === 'INGRESS_TRAFFIC_INTERNAL_ONLY', 'the service is reachable from everywhere')
  const template = blockAt(service, 'template')
  const { min_instance_count: least, max_instance_count: most } = blockAt(template, 'scaling')
  expectThat(least === 2 && most === 2, `there are ${least} to ${most} processes instead of two`)
  const container = blockAt(template, 'containers')
  expectThat(blockAt(container, 'resources').cpu_idle === false, 'a process stands still without requests')
  const env = blockAt(container, 'env')
  expectThat(Number(env.value) < 10, 'a stop takes longer than Cloud Run waits')
  for (const name of [String(env.name), ...quoted(blockAt(module, 'locals').secret_variables)])
    expectThat(isVariable(name), `docs/configuration.md does not have ${name}`)
  for (const probe of ['startup_probe', 'liveness_probe']) {
    const { path } = blockAt(container, probe, 'http_get')
    expectThat(String(path) in paths, `the ${probe} asks for ${path}, which the contract does not have`)
  }

  const database = blockAt(resources, 'google_sql_database_instance', 'relayer')
  const settings = blockAt(database, 'settings')
  const address = blockAt(settings, 'ip_configuration')
  expectThat(database.deletion_protection === true, 'the database can be deleted by mistake')
  expectThat(settings.availability_type === 'REGIONAL', 'the database has no standby')
  expectThat(address.ipv4_enabled === false, 'the database has a public address')
  expectThat(address.ssl_mode === 'ENCRYPTED_ONLY', 'the database takes plain text')
  const backups = blockAt(settings, 'backup_configuration')
  expectThat(backups.point_in_time_recovery_enabled === true, 'the database cannot be restored to a moment')
  return problems
}

/** Follows names down, into the first of repeated blocks. */
function blockAt(block: Block, ...names: readonly string[]): Block {
  let found: Value | undefined = block
  for (const name of names) {
    found = isBlock(found) ? found[name] : undefined
    if (Array.isArray(found)) found = (found as readonly Value[])[0]
  }
  return isBlock(found) ? found : {}
}

function quoted(value: Value | undefined): string[] {
  return [...String(value).matchAll(/"(\w+)"/g)].flatMap(([, name = '']) => name)
}

/** The variables, locals and resources that expressions name and that the module does not have. */
function unresolved(module: Block): string[] {
  const known = new Set([
    ...Object.keys(blockAt(module, 'variable')).map((name) => `var.${name}`),
    ...Object.keys(blockAt(module, 'locals')).map((name) => `local.${name}`),
    ...Object.entries(blockAt(module, 'resource')).flatMap(([type, named]) =>
      Object.keys(named as Block).map((name) => `${type}.${name}`),
    ),
  ])
  const named = [...expressionsIn(module)].flatMap((text) =>
    [...text.matchAll(/\$\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
      [...inside.matchAll(/\b(?:var|local|google_\w+)\.\w+/g)].map(([name]) => name),
    ),
  )
  return [...new Set(named)].filter((name) => !known.has(name))
}

function* expressionsIn(value: Value): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value as Block)) yield* expressionsIn(inner)
}
