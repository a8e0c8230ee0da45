import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, onTestFinished } from 'vitest'
import { compileContract } from '../../src/contract/compile.ts'
import type { Schemas } from '../../src/contract/operations.ts'
import type { HandlerMap } from '../../src/http/handler.ts'
import { createRateLimiter, type RateLimitOptions } from '../../src/http/rate-limit.ts'
import { createHttpServer } from '../../src/http/server.ts'
import type { HttpServerOptions } from '../../src/http/server-options.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'

export const API_KEY = 'a-key-for-tests-of-32-characters-'
export const BEARER = `Bearer ${API_KEY}`

const COMPILED = await compileContract()
const EMPTY_LIST = { data: [], pagination: { current_page: 1, per_page: 10, total_items: 0 } }

const TRANSACTION = {
  id: 't-1',
  relayer_id: 'r-1',
  network_type: 'evm',
  status: 'pending',
  created_at: '2026-11-20T10:00:00.000Z',
  from: `0x${'1'.repeat(40)}`,
  value: '1',
  attempts: [],
} as const

const APPROVAL = {
  transaction_id: TRANSACTION.id,
  relayer_id: TRANSACTION.relayer_id,
  state: 'waiting',
  requested_by: 'payouts',
  reasons: ['Rule require_approval of relayer r-1: every transaction needs an approval.'],
  created_at: TRANSACTION.created_at,
  expires_at: '2026-11-21T10:00:00.000Z',
} as const

const DIAGNOSIS = {
  transaction_id: TRANSACTION.id,
  status: 'pending',
  summary: 'It is next to be signed.',
  findings: [{ code: 'waiting_to_be_signed', message: 'It is next to be signed.' }],
  queue: { position: 0, in_flight: 0, in_flight_limit: 16 },
  endpoints: [],
  next_action: { action: 'sign', message: 'It is priced, numbered and signed.' },
} as const

const RELAYER = {
  id: 'r-1',
  name: 'Relayer',
  network: 'anvil',
  network_type: 'evm',
  address: `0x${'1'.repeat(40)}`,
  signer_id: 'dev',
  paused: false,
  system_disabled: false,
  policies: {},
} as const

const EVENT_ID = '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d'

const DELIVERY = {
  id: 'd-1',
  notification_id: 'ops',
  event_id: EVENT_ID,
  event_number: '1',
  event: 'notification_test',
  status: 'pending',
  tries: 0,
  created_at: '2026-11-20T10:00:00.000Z',
  body: '{}',
} as const

const NOTIFICATION = {
  id: 'ops',
  type: 'webhook',
  url: 'https://example.com',
  has_signing_key: false,
} as const

const SIGNER = { id: 'hot', type: 'local', config: {} } as const

const NETWORK = {
  id: 'stellar:testnet',
  name: 'testnet',
  network_type: 'stellar',
  rpc_urls: [],
  average_blocktime_ms: 5000,
  is_testnet: true,
} as const

const API_KEY_RECORD = {
  id: 'payments',
  name: 'Payments',
  scopes: ['transactions:read'],
  disabled: false,
  created_at: '2026-11-20T10:00:00.000Z',
  created_by: 'root',
  secrets: [],
} as const satisfies Schemas['ApiKey']

const KEY_CREATION = {
  signer_id: 'treasury',
  type: 'aws_kms',
  curve: 'secp256k1',
  state: 'requested',
  config: { region: 'eu-west-1' },
  created_at: '2026-11-20T10:00:00.000Z',
} as const satisfies Schemas['KeyCreation']

const PLUGIN = {
  id: 'payout',
  path: 'payout.ts',
  timeout: 300,
  emit_logs: false,
  emit_traces: false,
  raw_response: false,
  allow_get_invocation: false,
  forward_logs: false,
  scopes: [],
  memory_mb: 128,
  state: { status: 'ready', restarts: 0, running: 0, queued: 0, calls: '0', failures: '0' },
} as const satisfies Schemas['Plugin']

const RECEIPT = {
  transaction_id: '0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11',
  network_type: 'evm',
  receipt: {
    transaction_hash: `0x${'11'.repeat(32)}`,
    block_number: 7n,
    block_hash: `0x${'22'.repeat(32)}`,
    gas_used: 21_000n,
  },
  succeeded: true,
  logs: [],
  truncated: false,
} as const satisfies Schemas['TransactionReceipt']

const CONTRACT_ABI = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  function_count: 1,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
  abi: [{ type: 'function', name: 'pause', inputs: [] }],
} as const satisfies Schemas['ContractAbi']

const SCHEDULE = {
  id: 'weekly',
  relayer_id: 'main',
  state: 'active',
  cron: '0 9 * * 1',
  timezone: 'UTC',
  transaction: { to: `0x${'11'.repeat(20)}`, value: 1n },
  missed: 'once',
  overlap: 'skip',
  approval: 'each_run',
  api_key_id: 'root',
  version: 1,
  next_at: '2026-11-23T09:00:00.000Z',
  runs: 0,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
} as const satisfies Schemas['Schedule']

const METRICS = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'requests_total 1\n' }

async function* emptyStream(): AsyncGenerator<never[]> {}

/** Each handler gives the smallest correct answer. A test replaces the handler of its subject. */
const HANDLERS: HandlerMap = {
  listSchedules: async () => EMPTY_LIST,
  createSchedule: async () => ({ data: SCHEDULE }),
  getSchedule: async () => ({ data: SCHEDULE }),
  updateSchedule: async () => ({ data: SCHEDULE }),
  deleteSchedule: async () => ({ data: 'Schedule deleted successfully' }),
  listScheduleRuns: async () => EMPTY_LIST,
  listNextRuns: async () => ({ data: [] }),
  decideSchedule: async () => ({ data: SCHEDULE }),
  listProposals: async () => EMPTY_LIST,
  decideProposal: async () => ({
    data: {
      proposal: {
        id: 'p-1',
        operation: 'deleteSigner',
        change: {},
        state: 'refused',
        proposed_by: `person.${'1'.repeat(32)}`,
        created_at: TRANSACTION.created_at,
        expires_at: '2026-11-21T10:00:00.000Z',
      },
    },
  }),
  listRoles: async () => ({ data: [] }),
  listSessions: async () => EMPTY_LIST,
  endSession: async () => ({ data: 'Session ended successfully' }),
  endCurrentSession: async () => ({ data: 'Session ended successfully' }),
  quoteSponsoredTransaction: async () => ({ data: { estimated_fee: '0.1', conversion_rate: '148' } }),
  buildSponsoredTransaction: async () => ({
    data: {
      transaction: 'AQAAAA==',
      fee_in_spl: '1',
      fee_in_lamports: '1',
      fee_token: 'token',
      valid_until_blockheight: 1,
    },
  }),
  getHealth: async () => ({ status: 200, body: 'OK' }),
  getReadiness: async () => ({
    status: 200,
    body: {
      ready: true,
      status: 'healthy',
      components: {
        database: { status: 'healthy' },
        networks: { status: 'healthy' },
        workers: { status: 'healthy' },
        relayers: { status: 'healthy' },
      },
      timestamp: '2026-11-20T10:00:00.000Z',
    },
  }),
  listMetrics: async (_input, { mediaType }) => ({
    status: 200,
    body: mediaType === 'application/json' ? ['requests_total'] : METRICS.body,
  }),
  metricDetail: async () => ({ status: 200, ...METRICS }),
  scrapeMetrics: async () => ({ status: 200, ...METRICS }),
  listRelayers: async () => EMPTY_LIST,
  createRelayer: async () => ({ data: RELAYER }),
  getRelayer: async () => ({ data: RELAYER }),
  updateRelayer: async () => ({ data: RELAYER }),
  acceptNonces: async () => ({ data: RELAYER }),
  decideTransaction: async () => ({ data: TRANSACTION }),
  decideTransactions: async () => ({ data: { decided_transaction_ids: [], failures: [] } }),
  deleteRelayer: async () => ({ data: 'Relayer deleted successfully' }),
  getRelayerStatus: async () => ({
    data: { network_type: 'evm', pending_transactions_count: 0, system_disabled: false, paused: false },
  }),
  getRelayerBalance: async () => ({ data: { balance: 0n, unit: 'wei' } }),
  listNotifications: async () => EMPTY_LIST,
  listTransactions: async () => EMPTY_LIST,
  signMessage: async () => ({ data: { r: 'a'.repeat(64), s: 'b'.repeat(64), sig: 'c'.repeat(130), v: 27 } }),
  signAuthorizationEntry: async () => ({
    data: { r: 'a'.repeat(64), s: 'b'.repeat(64), sig: 'c'.repeat(128), v: 0 },
  }),
  signTransaction: async () => ({ data: { signedXdr: 'AAAA', signature: 'AAAA' } }),
  callRpc: async () => ({ status: 200, body: { jsonrpc: '2.0', id: 1, result: null } }),
  signTypedData: async () => ({
    data: { r: 'a'.repeat(64), s: 'b'.repeat(64), sig: 'c'.repeat(130), v: 28 },
  }),
  sendTransaction: async () => ({ data: TRANSACTION }),
  sendTransactionBatch: async () => ({ data: [TRANSACTION] }),
  getActivity: async () => ({ data: { rows: [] } }),
  getSpendingReport: async () => ({ status: 200, body: { success: true, data: [] } }),
  exportTransactions: async () => ({ status: 200, body: '', contentType: 'text/csv; charset=utf-8' }),
  searchTransactions: async () => ({ data: [], pagination: { next_cursor: null } }),
  getTransactionById: async () => ({ data: TRANSACTION }),
  getTransactionByNonce: async () => ({ data: TRANSACTION }),
  deletePendingTransactions: async () => ({
    data: {
      queued_for_cancellation_transaction_ids: [],
      failed_to_queue_transaction_ids: [],
      failures: [],
      total_processed: 0,
      remaining: 0,
    },
  }),
  replaceTransaction: async () => ({ data: TRANSACTION }),
  cancelTransaction: async () => ({ data: TRANSACTION }),
  diagnoseTransaction: async () => ({ data: DIAGNOSIS }),
  getTransactionReceipt: async () => ({ data: RECEIPT }),
  listApprovals: async () => EMPTY_LIST,
  getApproval: async () => ({ data: APPROVAL }),
  decideApproval: async () => ({ data: APPROVAL }),
  listEvents: async () => ({ data: [] }),
  listAlerts: async () => EMPTY_LIST,
  listAuditEntries: async () => ({ data: [] }),
  streamEvents: async () => ({ after: '0', stream: emptyStream() }),
  createStreamTicket: async () => ({
    data: { ticket: 't'.repeat(43), expires_at: '2026-11-20T10:01:00.000Z' },
  }),
  listDeliveries: async () => EMPTY_LIST,
  getDelivery: async () => ({ data: DELIVERY }),
  redeliverDelivery: async () => ({ data: DELIVERY }),
  redeliverDeliveries: async () => ({ data: { redelivered: 0, remaining: 0 } }),
  sendTestEvent: async () => ({ data: { event_id: EVENT_ID } }),
  pauseNotification: async () => ({ data: NOTIFICATION }),
  resumeNotification: async () => ({ data: NOTIFICATION }),
  createNotification: async () => ({ data: NOTIFICATION }),
  getNotification: async () => ({ data: NOTIFICATION }),
  updateNotification: async () => ({ data: NOTIFICATION }),
  deleteNotification: async () => ({ data: 'Notification deleted successfully' }),
  listSigners: async () => EMPTY_LIST,
  createSigner: async () => ({ data: SIGNER }),
  listKeyCreations: async () => EMPTY_LIST,
  createKey: async () => ({ data: KEY_CREATION }),
  forgetKeyCreation: async () => ({ data: 'Key creation forgotten; its key stays in the key service' }),
  getSigner: async () => ({ data: SIGNER }),
  deleteSigner: async () => ({ data: 'Signer deleted successfully' }),
  listNetworks: async () => EMPTY_LIST,
  getNetwork: async () => ({ data: NETWORK }),
  updateNetwork: async () => ({ data: NETWORK }),
  resetNetwork: async () => ({
    data: { network_id: 'evm:anvil', relayer_ids: ['main'], ended_transactions: 0 },
  }),
  rotateSigningKey: async () => ({ data: { notification_id: 'ops' } }),
  listApiKeys: async () => EMPTY_LIST,
  createApiKey: async () => ({ data: { ...API_KEY_RECORD, secret: 'rlk_secret' } }),
  getVersion: async () => ({ data: { version: '0.1.0' } }),
  getCurrentApiKey: async () => ({ data: { id: 'root', scopes: ['transactions:read'] } }),
  listAbis: async () => EMPTY_LIST,
  getAbi: async () => ({ data: CONTRACT_ABI }),
  registerAbi: async () => ({ data: CONTRACT_ABI }),
  deleteAbi: async () => ({ data: 'ABI deleted successfully' }),
  getRelayerUsage: async () => ({ data: { limits: [], spent: [] } }),
  getApiKeyUsage: async () => ({ data: { limits: [], spent: [] } }),
  getApiKey: async () => ({ data: API_KEY_RECORD }),
  updateApiKey: async () => ({ data: API_KEY_RECORD }),
  deleteApiKey: async () => ({ data: 'API key deleted successfully' }),
  listPlugins: async () => ({
    data: [PLUGIN],
    pagination: { current_page: 1, per_page: 10, total_items: 1 },
  }),
  getPlugin: async () => ({ data: PLUGIN }),
  updatePlugin: async () => ({ data: PLUGIN }),
  callPlugin: async () => ({ status: 200, body: { success: true, data: null } }),
  callPluginGet: async () => ({ status: 200, body: { success: true, data: null } }),
  callPluginRoute: async () => ({ status: 200, body: { success: true, data: null } }),
  callPluginRouteGet: async () => ({ status: 200, body: { success: true, data: null } }),
  rotateApiKey: async () => ({ data: { ...API_KEY_RECORD, secret: 'rlk_secret' } }),
}

export interface StubOptions
  extends Partial<
    Pick<
      HttpServerOptions,
      | 'apiKeys'
      | 'findKey'
      | 'networkOf'
      | 'limits'
      | 'explainFault'
      | 'trustedProxies'
      | 'observer'
      | 'redeemTicket'
      | 'corsOrigins'
      | 'serveConsole'
      | 'mounts'
    >
  > {
  readonly handlers?: Partial<HandlerMap>
  readonly rateLimit?: Pick<RateLimitOptions, 'perSecond' | 'burst'>
  readonly clock?: Clock
}

/** Starts a server for one test, and collects its log lines as objects. The server checks its answers against the contract. */
export async function startStub(options: StubOptions = {}) {
  const stub = await openStub(options)
  onTestFinished(() => stub.server.drain({ deadlineMs: 0 }))
  return stub
}

/** Starts one server for several tests that do not change it. */
export async function startSharedStub(options: StubOptions = {}) {
  const stub = await openStub(options)
  afterAll(() => stub.server.drain({ deadlineMs: 0 }))
  return stub
}

/** Gives the options of a server whose handlers answer every operation. */
export function stubOptions({
  handlers = {},
  clock = systemClock,
  rateLimit = { perSecond: 1000, burst: 1000 },
  ...options
}: StubOptions = {}) {
  return {
    ...COMPILED,
    handlers: { ...HANDLERS, ...handlers },
    apiKeys: [API_KEY],
    findKey: () => undefined,
    networkOf: async () => undefined,
    redeemTicket: async () => undefined,
    host: '127.0.0.1',
    port: 0,
    limiter: createRateLimiter({ ...rateLimit, clock }),
    validateResponses: true,
    log: pino({ level: 'silent' }),
    clock,
    ...options,
  }
}

async function openStub(options: StubOptions) {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const server = await createHttpServer({ ...stubOptions(options), log: pino({ level: 'info' }, sink) })
  const { port } = await server.listen()
  return { server, port, url: `http://127.0.0.1:${port}`, lines }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body, when it is JSON. */
  readonly json: Record<string, unknown> | undefined
}

export interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

/** Sends one request on its own connection. `fetch` would repair some requests that the tests send broken on purpose. */
export function ask(port: number, { method = 'GET', path, headers = {}, body }: Ask): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const outgoing = httpRequest(
    { port, host: '127.0.0.1', method, path, headers, agent: false },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const json =
          response.headers['content-type']?.startsWith('application/json') && text
            ? JSON.parse(text)
            : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    },
  )
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

/** Sends a request with the credential, and with a JSON body. */
export function call(port: number, method: string, path: string, body?: unknown): Promise<Reply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { authorization: BEARER, ...(text !== undefined && { 'content-type': 'application/json' }) }
  return ask(port, { method, path, headers, ...(text !== undefined && { body: text }) })
}

/** Writes raw bytes to the server and collects the answer until the connection ends. */
export function rawExchange(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += String(chunk)
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(received))
  socket.write(text)
  return promise
}
