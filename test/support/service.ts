import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/load.ts'
import { compileContract } from '../../src/contract/compile.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import type { Schemas } from '../../src/contract/operations.ts'
import type { DatabaseOptions } from '../../src/database/database.ts'
import type { Clock } from '../../src/lib/time.ts'
import { createLogger, type Logger } from '../../src/log.ts'
import { anvilNetwork, ON_ANVIL } from './anvil.ts'
import { createDataDir } from './data-dir.ts'
import { startPooledEngine } from './engine-pool.ts'
import { until } from './until.ts'

type FieldOf<T> = T extends unknown ? keyof T : never
type ValueOf<T, Field extends PropertyKey> = T extends { readonly [P in Field]?: infer Value } ? Value : never

/** The fields of every member of a union; those that only some have may be absent. */
type Merged<T> = { readonly [Field in keyof T]: T[Field] } & {
  readonly [Field in Exclude<FieldOf<T>, keyof T>]?: ValueOf<T, Field>
}

/** An attempt on any kind of network. */
export type AnyAttempt = Merged<Schemas['EvmAttempt'] | Schemas['StellarAttempt'] | Schemas['SolanaAttempt']>

/** A transaction on any kind of network: a caller that knows which network it asked reads the fields without narrowing. */
export type AnyTransaction = Omit<Merged<Schemas['Transaction']>, 'attempts'> & {
  readonly attempts: readonly AnyAttempt[]
}

/** Accounts of anvil's default mnemonic ("test test … junk"): public knowledge, worth nothing anywhere else. */
export const DEV_KEYS = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
] as const
export const DEV_ADDRESSES = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
] as const
export const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

export const API_KEY = 'an-api-key-for-tests-that-is-long-enough'

export const SIGNING_KEY = 'a-signing-key-of-thirty-two-characters'

/** The secrets of every service that tests start. A key in hex is without its 0x, so that it is found with and without. */
export const SERVICE_SECRETS: readonly string[] = [
  API_KEY,
  SIGNING_KEY,
  ...DEV_KEYS.map((key) => key.slice(2)),
]

/** Events of most tests are for no one. */
export const NOWHERE = 'http://127.0.0.1:9/hook'

export type Transaction = AnyTransaction

/** An answer as it came over the socket; integers beyond 2^53 are bigint. */
export interface Answer<Data = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly success: boolean
    readonly data: Data
    readonly message?: string
    readonly error?: string
    readonly code?: string
    readonly pagination?: { current_page: number; per_page: number; total_items: number }
    readonly metadata?: { logs: { level: string; message: string }[] }
  }
}

export interface Service {
  readonly url: string
  /** There when METRICS_ENABLED is. */
  readonly metricsUrl?: string
  /** One call with the API key. A string body goes out as it is. */
  api<Data = Transaction>(
    method: string,
    path: string,
    body?: object | string,
    headers?: Record<string, string>,
  ): Promise<Answer<Data>>
  stop(): Promise<void>
}

export interface ServiceOptions {
  /** One for each endpoint of the network. */
  readonly rpcUrls: readonly string[]
  /** Default: forgotten at the stop. */
  readonly dataDir?: string
  readonly databaseUrl?: string
  /** Default: in a thread that services of this process use one after the other. */
  readonly startEngine?: DatabaseOptions['startEngine']
  readonly policies?: object
  readonly network?: object
  /** Stand beside the network `anvil`, or alone when there are no `rpcUrls`. */
  readonly networks?: readonly object[]
  /** Replaces the two standard relayers `main` and `other`. */
  readonly relayers?: readonly object[]
  /** Replaces the two standard signers `dev-0` and `dev-1`. */
  readonly signers?: readonly object[]
  /** The url of `ops`. Default: a port of this machine where no one listens. */
  readonly notificationUrl?: string
  /** Entries of the list `plugins`. Default: none. */
  readonly plugins?: readonly object[]
  /** The entry `sign_in`. Default: none. */
  readonly signIn?: object
  /** The entry `second_person`. Default: none. */
  readonly secondPerson?: object
  readonly env?: Record<string, string>
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Default: standard output, silent unless TEST_LOG_LEVEL sets another level. */
  readonly log?: Logger
  /** `address:port` of the name servers that resolve the hosts of webhooks and of callers' RPC urls. Default: the machine's. */
  readonly nameServers?: readonly string[]
}

/** The whole service on a free port, with relayers `main` and `other` and the notification `ops`. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const own = options.dataDir === undefined && options.databaseUrl === undefined && (await createDataDir())
  const removeOwn = async () => {
    if (own) await rm(own, { recursive: true })
  }
  const app = await buildApp(own ? { ...options, dataDir: own } : options).catch(async (error) => {
    await removeOwn()
    throw error
  })
  await app.begin()
  const started = await app.listen()
  const { url } = started
  return {
    ...started,
    api: (method, path, body, headers) => callService(url, { method, path, body, headers }),
    stop: async () => {
      await app.stop()
      await removeOwn()
    },
  }
}

/** Compiled once for all services of the process. */
const compiled = await compileContract()

/** Its configuration is there only while it is read, because a service that is killed can remove nothing. */
async function buildApp(options: ServiceOptions): Promise<App> {
  const { clock, dataDir, databaseUrl, nameServers } = options
  const folder = await mkdtemp(join(tmpdir(), 'relayer-test-'))
  try {
    await writeFile(join(folder, 'config.json'), JSON.stringify(configFile(options)))
    const config = loadConfig(
      {
        API_KEY,
        HOST: '127.0.0.1',
        APP_PORT: '0',
        CONFIG_DIR: folder,
        LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
        NODE_ENV: 'test',
        RELAYER_SHUTDOWN_GRACE_SECONDS: '0',
        // A service in the process of its test cannot lose the power alone.
        DURABILITY: 'relaxed',
        RATE_LIMIT_REQUESTS_PER_SECOND: '100000',
        RATE_LIMIT_BURST_SIZE: '100000',
        ...(dataDir === undefined ? {} : { DATA_DIR: dataDir }),
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ...options.env,
      },
      folder,
    )
    const { log = createLogger({ level: config.logLevel }) } = options
    return await createApp(config, {
      log,
      compiled,
      ...(clock && { clock }),
      ...(nameServers && { nameServers }),
      startEngine: options.startEngine ?? startPooledEngine,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The content of the configuration file of such a service. */
export function configFile({
  rpcUrls,
  policies = {},
  network = {},
  networks = [],
  relayers,
  signers,
  notificationUrl = NOWHERE,
  plugins,
  signIn,
  secondPerson,
}: ServiceOptions) {
  return {
    ...(plugins && { plugins }),
    ...(signIn && { sign_in: signIn }),
    ...(secondPerson && { second_person: secondPerson }),
    relayers: relayers ?? [
      { id: 'main', name: 'Main', signer_id: 'dev-0', notification_id: 'ops', policies, ...ON_ANVIL },
      { id: 'other', name: 'Other', signer_id: 'dev-1', ...ON_ANVIL },
    ],
    signers: signers ?? DEV_KEYS.map((key, index) => plainSigner(`dev-${index}`, key)),
    notifications: [
      {
        id: 'ops',
        type: 'webhook',
        url: notificationUrl,
        signing_key: { type: 'plain', value: SIGNING_KEY },
      },
    ],
    networks: [...(rpcUrls.length === 0 ? [] : [anvilNetwork(rpcUrls, network)]), ...networks],
  }
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: object | string | undefined
  readonly headers?: Record<string, string> | undefined
}

/** One call with the API key, to any service. */
export async function callService<Data>(
  url: string,
  { method, path, body, headers }: Call,
): Promise<Answer<Data>> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const parsed = parseJson(await response.text()) as Answer<Data>['body']
  return { status: response.status, headers: response.headers, body: parsed }
}

/** Sends items in one batch through relayer `main`, whatever the answer. */
export function sendBatch(
  service: Pick<Service, 'api'>,
  transactions: readonly object[],
  headers?: Record<string, string>,
): Promise<Answer<Transaction[]>> {
  return service.api<Transaction[]>('POST', '/relayers/main/transactions/batch', { transactions }, headers)
}

/** The configuration of a signer with this key, written as its chain writes keys. */
export function plainSigner(id: string, value: string) {
  return { id, type: 'plain', config: { key: { type: 'plain', value } } }
}

/** The words that stories about transactions of relayer `main` need, on every chain. */
export interface Story {
  readonly service: Service
  /** Sends and expects 200. */
  send(body: object | string): Promise<Transaction>
  /** Sends, whatever the answer. */
  post(body: object | string): Promise<Answer<Transaction>>
  replace(id: string, body: object | string): Promise<Answer<Transaction>>
  cancel(id: string): Promise<Answer<Transaction>>
  get(id: string): Promise<Transaction>
  /** Waits until the transaction has this status; `meanwhile` happens before each look. */
  reach(id: string, status: Transaction['status'], meanwhile?: () => void): Promise<Transaction>
}

/** Tells it of a service that runs. */
export function storyOf(service: Service): Story {
  const all = '/relayers/main/transactions'
  const path = (id: string) => `${all}/${id}`
  const get = async (id: string) => (await service.api('GET', path(id))).body.data
  const post = (body: object | string) => service.api('POST', all, body)
  return {
    service,
    get,
    post,
    reach: (id, status, meanwhile = () => {}) =>
      until(
        () => {
          meanwhile()
          return get(id)
        },
        (seen) => seen.status === status,
      ),
    send: async (body) => {
      const answer = await post(body)
      if (answer.status !== 200) throw new Error(`send was refused: ${answer.body.error}`)
      return answer.body.data
    },
    replace: (id, body) => service.api('PUT', path(id), body),
    cancel: (id) => service.api('DELETE', path(id)),
  }
}
