import { Agent, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  type Contract,
  type ContractOperation,
  loadContract,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { stringifyJson } from '../../src/contract/exact-integers.ts'
import type { Random } from '../../test/support/random.ts'
import { type Scenario, startScenario } from '../../test/support/scenario.ts'
import { API_KEY, RECEIVER } from '../../test/support/service.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'

/** A way to present no valid credential. */
export interface AuthForm {
  readonly name: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** Appended to the path. */
  readonly query?: string
}

const WRONG = 'wrong-key-wrong-key-wrong-key-wrong-key'

/** Returns every form, and `changed` forms of the key in which something small is different. */
function authForms(key: string, random: Random, changed = 8): readonly AuthForm[] {
  return [...fixedForms(key), ...Array.from({ length: changed }, () => changedForm(key, random))]
}

function fixedForms(key: string): AuthForm[] {
  const basic = Buffer.from(`api:${key}`).toString('base64')
  const bearer = `Bearer ${key}`
  return [
    { name: 'none', headers: [] },
    ...[
      ['empty', ''],
      ['a space', ' '],
      ['no token', 'Bearer'],
      ['a wrong key', `Bearer ${WRONG}`],
      ['the key alone', key],
      ['Basic', `Basic ${basic}`],
      ['the key as Basic', `Basic ${key}`],
      ['Digest', `Digest ${key}`],
      ['Token', `Token ${key}`],
      ['the scheme twice', `Bearer ${bearer}`],
      ['two keys', `${bearer} ${key}`],
      ['a list', `${bearer}, ${bearer}`],
      ['a list that begins wrong', `Bearer ${WRONG}, ${bearer}`],
      ['quotes', `Bearer "${key}"`],
      ['a tab', `Bearer\t${key}`],
      ['a colon', `Bearer: ${key}`],
      ['no space', `Bearer${key}`],
      ['the key in upper case', `Bearer ${key.toUpperCase()}`],
      ['the key in base64', `Bearer ${Buffer.from(key).toString('base64')}`],
      ['the key with percent', `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`],
      ['a beginning', `Bearer ${key.slice(0, -1)}`],
      ['an end', `Bearer ${key.slice(1)}`],
      ['the key and more', `Bearer ${key}x`],
      ['a very long key', `Bearer ${key.repeat(100)}`],
      ['undefined', 'Bearer undefined'],
      ['null', 'Bearer null'],
    ].map(([name = '', value = '']) => ({ name, headers: ['Authorization', value] })),
    {
      name: 'a second header with the key',
      headers: ['Authorization', `Bearer ${WRONG}`, 'Authorization', bearer],
    },
    { name: 'a cookie', headers: ['Cookie', `authorization=${bearer}; api_key=${key}; token=${key}`] },
    { name: 'X-Api-Key', headers: ['X-Api-Key', key] },
    { name: 'Proxy-Authorization', headers: ['Proxy-Authorization', bearer] },
    { name: 'X-Authorization', headers: ['X-Authorization', bearer, 'X-Forwarded-Authorization', bearer] },
    { name: 'a local address in headers', headers: ['X-Forwarded-For', '127.0.0.1', 'X-Real-Ip', '::1'] },
    {
      name: 'another path in headers',
      headers: ['X-Original-Url', '/api/v1/health', 'X-Rewrite-Url', '/docs'],
    },
    { name: 'another method in a header', headers: ['X-Http-Method-Override', 'GET'] },
    {
      name: 'query',
      headers: [],
      query: `?api_key=${key}&access_token=${key}&authorization=Bearer%20${key}`,
    },
  ]
}

function changedForm(key: string, random: Random): AuthForm {
  const at = random.int(0, key.length - 1)
  const other = String.fromCharCode(random.int(0x21, 0x7e))
  const changed = random.pick([
    `${key.slice(0, at)}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${other === key[at] ? '~~' : other}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${other}${key.slice(at)}${other}`,
    `${key.slice(0, at)}${'\u00e9'}${key.slice(at + 1)}`,
  ])
  return { name: `a changed key (${at})`, headers: ['Authorization', `Bearer ${changed}`] }
}

/** A request that is sent as it is: `fetch` would repair some, and joins headers of one name. */
export interface RawRequest {
  readonly url: string
  readonly method: string
  /** The request target, which may be no url. */
  readonly path: string
  /** Names and values in turn; a name may occur twice. */
  readonly headers: readonly string[]
  readonly body?: string | undefined
}

/** The answer; status 0 when the connection ended without one. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
}

/** An answer that pauses for this long, in ms, is over: an event stream would go on for ever. */
const IDLE_MS = 10_000

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Sends the request and reads the whole answer. */
function sendRaw({ url, method, path, headers, body }: RawRequest): Promise<RawAnswer> {
  const { host, hostname, port } = new URL(url)
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const all = ['Host', host, ...headers, ...length]
  return new Promise((resolve) => {
    const request = httpRequest({ agent, hostname, port, method, path, headers: all }, (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 0, text: content }),
        (error: Error) => resolve({ status: response.statusCode ?? 0, text: error.message }),
      )
    })
    request.setTimeout(IDLE_MS, () => request.destroy())
    request.on('error', (error) => resolve({ status: 0, text: error.message }))
    request.end(body)
  })
}

/** One request of each operation, with the body of an example of the contract, and records that exist. */
export interface SampleRequest {
  readonly operation: ContractOperation
  readonly path: string
  readonly contentType: string | undefined
  readonly body: string | undefined
}

/** Makes one for each operation of the contract. */
function sampleRequests(
  { document, operations }: Contract,
  ids: Readonly<Record<string, string>>,
): readonly SampleRequest[] {
  return operations.map((operation) => ({
    operation,
    path: operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '1'),
    contentType: operation.body?.mediaTypes[0],
    body: exampleBody(document, operation),
  }))
}

function exampleBody(document: Node, { path, method, body }: ContractOperation): string | undefined {
  if (body === undefined) return undefined
  const item = (document.paths as Node)[path] as Node
  const operation = item[method.toLowerCase()] as { requestBody: Node }
  const { content } = resolveReference(document, operation.requestBody) as { content: Node }
  const { examples = {} } = Object.values(content)[0] as { examples?: Node }
  const [example] = Object.values(examples) as Node[]
  return example === undefined ? '{}' : stringifyJson(resolveReference(document, example).value)
}

/** Calls every operation in every form without a valid key, and checks that each answer is 401 and that nothing changed. */
export const auth: Attack = { name: 'auth', run }

/** Paths that a router could take for others. */
const PATHS = [
  '//api/v1/relayers',
  '/api/v1//relayers',
  '/api/v1/health/../relayers',
  '/api/v1/health/%2e%2e/relayers',
  '/api/v1/health/..;/relayers',
  '/api/v1/relayers;/health',
  '/api/v1/relayers%2fmain',
  '/api/v1/relayers/main%2ftransactions',
  '/API/V1/relayers',
  '/api/v1/relayers/',
  '/api/v1/relayers?/api/v1/health',
  '/api/v1/relayers#/api/v1/health',
  '/api/v1/relayers%00/health',
  '/api/v1/__proto__',
  '/docs/../api/v1/relayers',
  '/docs/%2e%2e/api/v1/relayers',
  '\\api\\v1\\relayers',
  'http://localhost/api/v1/relayers',
  '/metrics',
  '/api/v1/healthx',
  '/api/v1/ready/relayers',
] as const

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const contract = await loadContract()
  const scenario = await startScenario()
  try {
    const { id } = await scenario.send({ to: RECEIVER, value: 1 })
    await scenario.reach(id, 'submitted')
    const ids = {
      relayer_id: 'main',
      transaction_id: id,
      notification_id: 'ops',
      signer_id: 'dev-0',
      network_id: 'evm:anvil',
    }
    const before = await stateOf(scenario)
    const { url } = scenario.service
    for (const form of authForms(API_KEY, random.fork('keys'))) {
      if (tally.isFull()) break
      const requests = sampleRequests(contract, ids)
      await Promise.all(requests.map((request) => tryOperation(tally, { url, form, request })))
    }
    await Promise.all(PATHS.map((path) => tryPath(tally, url, path)))
    const after = await stateOf(scenario)
    tally.check(after === before, () => `the state changed from ${before} to ${after}`)
    await checkKey(tally, url)
  } finally {
    await scenario.stop()
  }
  return tally.report()
}

interface Trial {
  readonly url: string
  readonly form: AuthForm
  readonly request: SampleRequest
}

async function tryOperation(tally: Tally, { url, form, request }: Trial): Promise<void> {
  const { operation, path, contentType, body } = request
  const { method } = operation
  const type = contentType === undefined ? [] : ['Content-Type', contentType]
  const headers = [...form.headers, ...type]
  const answer = await sendRaw({ url, method, path: `${path}${form.query ?? ''}`, headers, body })
  // An operation that needs no key may refuse an unknown parameter.
  const expected = (operation.secured ? [401] : [200, 400]).includes(answer.status)
  tally.check(
    expected,
    () => `${operation.id} with ${form.name} answered ${answer.status}: ${answer.text.slice(0, 200)}`,
  )
}

async function tryPath(tally: Tally, url: string, path: string): Promise<void> {
  const { status, text } = await sendRaw({ url, method: 'GET', path, headers: [] })
  tally.check(
    [400, 401, 404].includes(status),
    () => `${path} without a key answered ${status}: ${text.slice(0, 200)}`,
  )
}

/** The valid key has to open, or all the refusals say nothing. */
async function checkKey(tally: Tally, url: string): Promise<void> {
  const headers = ['Authorization', `Bearer ${API_KEY}`]
  const { status } = await sendRaw({ url, method: 'GET', path: '/api/v1/relayers', headers })
  tally.check(status === 200, () => `the valid key was answered ${status}`)
}

const STATE = [
  '/relayers',
  '/relayers/main/transactions',
  '/relayers/other/transactions',
  '/signers',
  '/notifications',
  '/notifications/ops/deliveries?status=dead',
  '/networks?per_page=100',
  '/events?after=0',
] as const

/** Everything that an operation could change, as text. */
async function stateOf({ service }: Scenario): Promise<string> {
  const answers = await Promise.all(STATE.map((path) => service.api<unknown>('GET', path)))
  const show = (key: string, value: unknown) => {
    // The age of the newest block changes by itself.
    if (key === 'head') return undefined
    return typeof value === 'bigint' ? String(value) : value
  }
  return answers.map(({ body }) => JSON.stringify(body.data, show)).join('\n')
}
