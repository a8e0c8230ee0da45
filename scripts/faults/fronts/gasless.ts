import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Hex } from 'viem'
import { pluginEntry } from '../../../test/plugins/gasless/site.ts'
import { createRandom } from '../../../test/support/random.ts'
import { API_KEY } from '../../../test/support/service.ts'
import type { FrontHistory } from './campaign.ts'
import { MAX_GAS } from './front-chain.ts'
import { type GaslessChain, type Order, type RequestKind, startGaslessChain } from './gasless-chain.ts'
import { type Answer, type Evidence, executes, isFinal, judgeGasless, sentFor } from './gasless-judge.ts'
import { type Stage as HistoryStage, playHistory } from './history.ts'
import { startKillable } from './killable-service.ts'
import { changeNode, releasedFees, SETTLE_MS, untilRest } from './rest.ts'

// Histories of gasless requests: users who sign for forwarders and for their accounts, some of them hostile,
// applications that repeat with other ids and names, strangers at an open path, a plugin that floods, a node
// that fails or lies, and kills of the service and of its plugins are drawn at random. The chain says what
// was executed.

const STEPS = {
  send: 6,
  sendTwice: 3,
  sendByTask: 2,
  sendTogether: 2,
  sendHostile: 3,
  spree: 2,
  overtake: 2,
  takeBack: 3,
  sameNonce: 2,
  sequence: 1,
  forge: 2,
  drain: 1,
  strangers: 2,
  crowd: 1,
  standStill: 1,
  flood: 1,
  floodByPlugin: 1,
  killPlugins: 1,
  killService: 1,
  changeNode: 3,
} as const

/**
 * The bounds of a run are smaller than those that are stated, so that they are reached; they hold in the same
 * way.
 */
const BOUNDS = { payer: 2, all: 6, open: 3 }
const OPEN_REQUESTS = 8

/** One window for the whole campaign, in seconds. */
const WINDOW_SECONDS = 100_000_000

/** A synchronous send waits so long, in ms. */
const TIMEOUT_MS = 4_000

/** The longest time in ms for which a caller asks for the status of an accepted request. */
const PATIENCE_MS = 8_000

/** The attacker inside the service floods in one of these ways. */
const ATTACKER = join(import.meta.dirname, '../../../test/e2e/plugins/fixtures/attacker.ts')
const FLOODS = ['message-flood', 'garbage', 'bombs', 'log-flood', 'smuggling-flood'] as const

const KINDS: readonly RequestKind[] = ['listed', 'open', 'account', 'operation']

interface Request {
  readonly order: Order
  readonly competes: boolean
  readonly isForged: boolean
  readonly isOfStrangers: boolean
  acts: number
  askers: number
  /** The application's own name for it; undefined where its content is its name. */
  taskId: Hex | undefined
  hasTwoNames: boolean
  madeAtRest: boolean
  readonly answers: Answer[]
  readonly unproved: string[]
}

interface Stage extends HistoryStage {
  readonly chain: GaslessChain
  readonly requests: Request[]
}

interface Options {
  readonly seeds: readonly number[]
  readonly steps: number
  /** Returns false to end the campaign. */
  onHistory(history: FrontHistory): boolean
}

/** Runs histories one after the other, each on a chain and a service of its own. */
export async function runGasless({ seeds, steps, onHistory }: Options): Promise<void> {
  for (const seed of seeds) if (!onHistory(await runHistory(seed, steps))) return
}

async function runHistory(seed: number, count: number): Promise<FrontHistory> {
  const random = createRandom(seed)
  const steps = Array.from({ length: count }, () => random.weighted(STEPS))
  const rules = { limits: [{ per: 'day', fees: String(10n ** 19n) }] }
  const chain = await startGaslessChain(random.fork('chain'), rules)
  const service = await startKillable({ ...chain.config, notifications: [], plugins: pluginsOn(chain) })
  const stage: Stage = { chain, service, random, requests: [], work: [], stands: false }
  const verdict = await playHistory(stage, { acts: steps.map((step) => ACTS[step]), conclude })
  return { seed, steps, ...verdict }
}

function pluginsOn({ network }: GaslessChain): object[] {
  const { payer: user, all, open } = BOUNDS
  const config = {
    networks: [network],
    failures: { user, all, open },
    limits: [{ per: 'open', window_seconds: WINDOW_SECONDS, requests: OPEN_REQUESTS }],
  }
  return [
    pluginEntry('gasless', config, { open_mount: true }),
    { id: 'attacker', path: ATTACKER, memory_mb: 256, timeout: 5 },
  ]
}

type Act = (stage: Stage) => Promise<void>

const ACTS: Readonly<Record<keyof typeof STEPS, Act>> = {
  send: async (stage) => ask(stage, await sign(stage)),
  sendTwice: async (stage) => {
    const request = await sign(stage)
    for (let count = stage.random.int(2, 4); count > 0; count -= 1) ask(stage, request)
  },
  sendByTask: async (stage) => {
    const request = await sign(stage)
    request.taskId = request.order.parts[0]?.mark
    request.hasTwoNames = stage.random.chance(0.5)
    ask(stage, request)
    ask(stage, request, { byContent: request.hasTwoNames })
  },
  sendTogether: async (stage) => {
    const request = add(stage, { order: await stage.chain.orderTogether(stage.random.int(2, 3)) })
    ask(stage, request)
    if (stage.random.chance(0.4)) act(stage, request, request.order.takeBack)
  },
  sendHostile: async (stage) => ask(stage, await sign(stage, { isHostile: true })),
  // One user, whose code decides in the block, asks more often than he may fail.
  spree: async (stage) => {
    const kind = stage.random.pick(['account', 'operation'] as const)
    const orders = await stage.chain.order(kind, { isHostile: true, count: BOUNDS.payer + 2 })
    for (const order of orders) ask(stage, add(stage, { order }))
  },
  overtake: async (stage) => {
    const request = await sign(stage)
    ask(stage, request)
    act(stage, request, request.order.sendFirst)
  },
  takeBack: async (stage) => {
    const request = await sign(stage)
    ask(stage, request)
    act(stage, request, request.order.takeBack)
  },
  sameNonce: async (stage) => {
    const orders = await stage.chain.order(stage.random.pick(KINDS), { count: 2, sameNonce: true })
    for (const order of orders) ask(stage, add(stage, { order, competes: true }))
  },
  sequence: async (stage) => {
    const orders = await stage.chain.order(stage.random.pick(KINDS), { count: 3 })
    for (const order of orders) ask(stage, add(stage, { order, competes: true }))
  },
  forge: async (stage) => {
    const [order] = await stage.chain.order(stage.random.pick(KINDS))
    const [other] = await stage.chain.order('listed')
    if (order === undefined || other === undefined) return
    // Somebody asks for another call than the one that was signed, in the same request.
    const [mark = '', otherMark = ''] = [order, other].map(({ parts: [part] }) => part?.mark.slice(2))
    const data = order.content.data.replace(mark, otherMark) as Hex
    const parts = other.parts
    ask(
      stage,
      add(stage, { order: { ...order, parts, content: { ...order.content, data } }, isForged: true }),
    )
    ask(stage, add(stage, { order }))
  },
  // The account of the relayer is asked to call something of its own.
  drain: async (stage) => {
    const [order] = await stage.chain.order('listed')
    if (order === undefined) return
    const to = `0x${'00'.repeat(18)}beef` as Hex
    ask(stage, add(stage, { order: { ...order, content: { ...order.content, to } }, isForged: true }))
  },
  strangers: async (stage) => {
    for (let count = 0; count < 3; count += 1) {
      const isHostile = stage.random.chance(0.5)
      const [order] = await stage.chain.order(stage.random.pick(KINDS), { isHostile })
      if (order !== undefined) ask(stage, add(stage, { order, isOfStrangers: true }))
    }
  },
  crowd: async (stage) => {
    standStill(stage, TIMEOUT_MS + 1_000)
    for (let count = 0; count < 7; count += 1) ask(stage, await sign(stage))
  },
  standStill: async (stage) => standStill(stage, stage.random.int(500, TIMEOUT_MS + 2_000)),
  flood: async (stage) => {
    const { order } = await sign(stage)
    const many = Array.from({ length: 30 }, () =>
      call(stage, 'relayer_getStatus', { id: order.parts[0]?.mark }),
    )
    stage.work.push(...many)
  },
  floodByPlugin: async (stage) => {
    const way = stage.random.pick(FLOODS)
    const path = `/plugins/attacker/call/${way}`
    stage.work.push(stage.service.api('POST', path, { params: {} }).catch(() => undefined))
  },
  killPlugins: async ({ service }) => service.killPlugins(),
  killService: ({ service }) => service.kill(),
  changeNode: async ({ chain, random }) => changeNode(chain, random),
}

async function sign(stage: Stage, how: { readonly isHostile?: boolean } = {}): Promise<Request> {
  const [order] = await stage.chain.order(stage.random.pick(KINDS), how)
  if (order === undefined) throw new Error('one request was asked for')
  return add(stage, { order })
}

function add({ requests }: Stage, { order, ...more }: Partial<Request> & Pick<Request, 'order'>): Request {
  const request: Request = {
    order,
    competes: false,
    isForged: false,
    isOfStrangers: false,
    acts: 0,
    askers: 0,
    taskId: undefined,
    hasTwoNames: false,
    madeAtRest: false,
    answers: [],
    unproved: [],
    ...more,
  }
  requests.push(request)
  return request
}

/** The wire that a caller uses. */
interface Way {
  /** The user's own name for it; undefined if its content is its name. */
  readonly taskId: Hex | undefined
  readonly isSync: boolean
}

function ask(stage: Stage, request: Request, { byContent = false } = {}): void {
  request.askers += 1
  const taskId = byContent ? undefined : request.taskId
  stage.work.push(settle(stage, request, { taskId, isSync: stage.random.chance(0.5) }))
}

function act(stage: Stage, request: Request, what: (() => Promise<unknown>) | undefined): void {
  if (what === undefined) return
  request.acts += 1
  const later = stage.random.int(0, 800)
  // A transaction that comes too late for the chain changes nothing.
  stage.work.push(
    pause(later)
      .then(what)
      .catch(() => undefined),
  )
}

function standStill(stage: Stage, ms: number): void {
  stage.stands = true
  stage.work.push(
    pause(ms).then(() => {
      stage.stands = false
    }),
  )
}

interface Reply {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

let ids = 0

async function call(
  { service }: Stage,
  method: string,
  params: object,
  isOfStrangers = false,
): Promise<Reply> {
  ids += 1
  try {
    const response = await fetch(`${service.url}/gasless/rpc`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(!isOfStrangers && { authorization: `Bearer ${API_KEY}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ids, method, params }),
    })
    return (await response.json()) as Reply
  } catch {
    return {} // The service was killed.
  }
}

const INTERNAL = -32_603
const TIMEOUT = -32_070

/** Sends a request as a client does, and asks for its status until it is final or his patience ends. */
async function settle(stage: Stage, request: Request, { taskId, isSync }: Way): Promise<Answer> {
  const answer = await answerFor(stage, request, { taskId, isSync })
  request.answers.push(answer)
  // Blocks only come, so what the answer could have seen is there now.
  if (answer.said === 'status' && answer.status === 200) {
    const included = await stage.chain.included(answer.hash ?? '')
    if (included === undefined || !executes(included, request.order)) request.unproved.push(answer.hash ?? '')
  }
  return answer
}

async function answerFor(
  stage: Stage,
  { order, isOfStrangers }: Request,
  { taskId, isSync }: Way,
): Promise<Answer> {
  const params = { ...order.content, ...(taskId && { taskId }), ...(isSync && { timeout: TIMEOUT_MS }) }
  const method = isSync ? 'relayer_sendTransactionSync' : 'relayer_sendTransaction'
  const { result, error } = await call(stage, method, params, isOfStrangers)
  if (isStatus(result)) return { said: 'status', ...asTold(result) }
  const id = error?.code === TIMEOUT ? error.data : result
  if (typeof id === 'string') return followed(stage, id as Hex, isOfStrangers)
  // The service answers by its own envelope where its plugin cannot.
  if (typeof error?.code !== 'number' || error.code === INTERNAL)
    return { said: 'unknown', message: JSON.stringify(error) ?? 'no answer' }
  return { said: 'refused', code: error.code, message: error.message }
}

async function followed(stage: Stage, id: Hex, isOfStrangers: boolean): Promise<Answer> {
  const deadline = Date.now() + PATIENCE_MS
  let last: Answer = { said: 'unknown', message: 'its status was never told' }
  while (Date.now() < deadline) {
    const { result, error } = await call(stage, 'relayer_getStatus', { id }, isOfStrangers)
    if (isStatus(result)) last = { said: 'status', ...asTold(result) }
    else if (typeof error?.code === 'number' && error.code !== INTERNAL)
      return { said: 'status', status: error.code, message: error.message }
    if (isFinal(last)) return last
    await pause(400)
  }
  return last
}

interface Status {
  readonly status: number
  readonly hash?: string
  readonly message?: string
}

function isStatus(result: unknown): result is Status {
  return typeof result === 'object' && result !== null && 'status' in result
}

function asTold({ status, hash, message }: Status): Status {
  return { status, ...(hash !== undefined && { hash }), ...(message !== undefined && { message }) }
}

/** Waits for rest, lets everybody ask again, and compares what was said with the chain. */
async function conclude(stage: Stage): Promise<Pick<FrontHistory, 'summary' | 'violations'>> {
  const { chain, requests, service } = stage
  const toldThen = new Map(
    requests.map((request) => [request, request.askers === 1 ? request.answers[0] : undefined]),
  )
  const late = await untilRest(service)
  const then = await chain.walk()
  for (const request of requests)
    request.madeAtRest = sentFor(request.order, then).some(
      (each) => each.isOurs && executes(each, request.order),
    )
  for (let times = 0; times < 2; times += 1)
    await Promise.all(requests.map((request) => askUntilFinal(stage, request)))
  const later = await untilRest(service)
  const included = await chain.walk()
  const users = requests.flatMap(({ order: { parts } }) => parts.map(({ user }) => user))
  const evidence: Evidence = {
    requests: requests.map((request) => ({ ...request, told: toldThen.get(request) })),
    included,
    counts: new Map(await Promise.all(users.map(async (user) => [user, await chain.countOf(user)] as const))),
    listed: chain.listed,
    spentFees: await releasedFees(
      service,
      included.filter(({ isOurs }) => isOurs),
    ),
    bounds: BOUNDS,
    openRequests: OPEN_REQUESTS,
    maxGas: MAX_GAS,
    maxFee: chain.maxFee,
  }
  return { summary: summaryOf(evidence), violations: [...late, ...later, ...judgeGasless(evidence)] }
}

async function askUntilFinal(stage: Stage, request: Request): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  const { taskId } = request
  for (;;) {
    const answer = await settle(stage, request, { taskId, isSync: false })
    const isOpen = answer.said === 'status' && answer.status === 110 && answer.message !== undefined
    if (isFinal(answer) || isOpen || Date.now() > deadline) return
    await pause(500)
  }
}

function summaryOf({ requests, included }: Evidence): string {
  const ours = included.filter(({ isOurs }) => isOurs)
  const made = requests.filter(({ order }) => sentFor(order, ours).some((each) => executes(each, order)))
  const lost = ours.filter((each) => !requests.some(({ order }) => executes(each, order)))
  const fees = lost.reduce((sum, { fee }) => sum + fee, 0n)
  const said = Map.groupBy(requests, ({ answers }) => wordOf(answers.at(-1)))
  const told = [...said].map(([word, same]) => `${same.length} ${word}`).join(', ')
  return `${requests.length} requests, ${made.length} executed, ${lost.length} failed, which cost ${fees}; told: ${told}`
}

function wordOf(answer: Answer | undefined): string {
  if (answer?.said === 'refused') return `refused ${answer.code}`
  return answer?.said === 'status' ? String(answer.status) : 'nothing'
}
