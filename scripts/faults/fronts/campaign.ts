import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { paymentKey } from '../../../plugins/x402/asked.ts'
import { pluginEntry } from '../../../test/plugins/x402/plugin-entry.ts'
import { createRandom } from '../../../test/support/random.ts'
import { startEvmFront } from './evm.ts'
import type { FrontChain, Order, PayerKind } from './front-chain.ts'
import { type Stage as HistoryStage, playHistory } from './history.ts'
import { type Answer, type Evidence, isFinal, judge } from './judge.ts'
import { startKillable } from './killable-service.ts'
import { changeNode, releasedFees, SETTLE_MS, untilRest } from './rest.ts'
import { startSolanaFront } from './solana.ts'
import { startStellarFront } from './stellar.ts'

// Histories of a front that holds money: buyers, sellers, hostile wallets and tokens, strangers who send
// first or take a name, a plugin that floods, a node that fails or lies, and kills of the service and of its
// plugins are drawn at random. The chain says who has paid.

/** The chains, and how they start. */
const CHAINS = { evm: startEvmFront, stellar: startStellarFront, solana: startSolanaFront } as const

/** The chain of a campaign. */
export type FrontChainName = keyof typeof CHAINS

/** A history that was run. */
export interface FrontHistory {
  readonly seed: number
  readonly steps: readonly string[]
  readonly summary: string
  readonly violations: readonly string[]
}

interface Options {
  readonly chain: FrontChainName
  readonly seeds: readonly number[]
  readonly steps: number
  /** Returns false to end the campaign. */
  onHistory(history: FrontHistory): boolean
}

const STEPS = {
  buy: 5,
  askTwice: 2,
  buyFromWallet: 2,
  buyWithToken: 4,
  overtake: 2,
  takeBack: 2,
  overspend: 2,
  spree: 2,
  resell: 1,
  takeName: 2,
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
const BOUNDS = { payer: 2, payee: 4, all: 4, open: 3 }

/** A settlement waits so long for its block. */
const TIMEOUT_SECONDS = 4

/** The attacker inside the service floods in one of these ways. */
const ATTACKER = join(import.meta.dirname, '../../../test/e2e/plugins/fixtures/attacker.ts')
const FLOODS = ['message-flood', 'garbage', 'bombs', 'log-flood', 'smuggling-flood'] as const

/** The facilitator for the listed token, and the one for any. */
type Mount = 'x402' | 'any'

interface Purchase {
  readonly order: Order
  readonly mount: Mount
  readonly competes: boolean
  readonly isForged: boolean
  acts: number
  /** How many have asked during the history. */
  askers: number
  readonly answers: Answer[]
  /** Successes that were told while no block had the payment. */
  readonly unproved: string[]
  paidAtRest: string | undefined
}

interface Stage extends HistoryStage {
  readonly chain: FrontChain
  readonly purchases: Purchase[]
}

/** Runs histories one after the other, each on a chain and a service of its own. */
export async function runFronts({ chain, seeds, steps, onHistory }: Options): Promise<void> {
  for (const seed of seeds) if (!onHistory(await runHistory(chain, seed, steps))) return
}

async function runHistory(name: FrontChainName, seed: number, count: number): Promise<FrontHistory> {
  const random = createRandom(seed)
  const steps = Array.from({ length: count }, () => random.weighted(STEPS))
  const rules = { limits: [{ per: 'day', fees: String(10n ** 19n) }] }
  const chain = await CHAINS[name](random.fork('chain'), rules)
  const service = await startKillable({ ...chain.config, notifications: [], plugins: pluginsOn(chain) })
  const stage: Stage = { chain, service, random, purchases: [], work: [], stands: false }
  const verdict = await playHistory(stage, { acts: steps.map((step) => ACTS[step]), conclude })
  return { seed, steps, ...verdict }
}

function pluginsOn({ network, asset }: FrontChain): object[] {
  const facilitator = (id: Mount, more: object) =>
    pluginEntry([], {
      id,
      mount: `/${id}`,
      open_mount: true,
      config: {
        networks: [{ network, relayer_id: 'main', ...more }],
        failures: BOUNDS,
        timeout_seconds: TIMEOUT_SECONDS,
        limits: [],
      },
    })
  return [
    facilitator('x402', { assets: [asset] }),
    facilitator('any', {}),
    { id: 'attacker', path: ATTACKER, memory_mb: 256, timeout: 5 },
  ]
}

type Act = (stage: Stage) => Promise<void>

const ACTS: Readonly<Record<keyof typeof STEPS, Act>> = {
  buy: async (stage) => ask(stage, await buy(stage, 'honest')),
  askTwice: async (stage) => {
    const purchase = await buy(stage, 'honest')
    ask(stage, purchase)
    ask(stage, purchase)
  },
  buyFromWallet: async (stage) => ask(stage, await buy(stage, 'wallet', 'x402')),
  buyWithToken: async (stage) => {
    const purchase = await buy(stage, 'token', 'any')
    ask(stage, purchase)
    if (stage.random.chance(0.5)) act(stage, purchase, purchase.order.takeBack)
  },
  overtake: async (stage) => {
    const purchase = await buy(stage, 'honest')
    ask(stage, purchase)
    act(stage, purchase, purchase.order.sendFirst)
  },
  takeBack: async (stage) => {
    const purchase = await buy(stage, 'honest')
    ask(stage, purchase)
    act(stage, purchase, purchase.order.takeBack)
  },
  overspend: async (stage) => {
    const orders = await stage.chain.order('honest', { payments: 3, funds: 1 })
    for (const order of orders) ask(stage, add(stage, { order, competes: true }))
  },
  // One payer, whose code or token decides in the block, pays more often than he may fail.
  spree: async (stage) => {
    const kind = stage.random.pick(stage.chain.kinds.filter((each) => each !== 'honest'))
    const orders = await stage.chain.order(kind, { payments: BOUNDS.payer + 2, funds: BOUNDS.payer + 2 })
    for (const order of orders) ask(stage, add(stage, { order, mount: 'any' }))
  },
  resell: async (stage) => {
    const [order] = await stage.chain.order('honest', { payments: 1, funds: 1 })
    if (order === undefined) return
    const changes = stage.random.chance(0.5) ? { payTo: stage.chain.otherPayee } : { amount: '20000' }
    ask(stage, add(stage, { order: forged(order, changes), isForged: true }))
    ask(stage, add(stage, { order }))
  },
  takeName: async (stage) => {
    const purchase = await buy(stage, 'honest')
    const name = paymentKey({
      request: { network: { network: stage.chain.network } },
      payment: { identity: purchase.order.identity },
    } as unknown as Parameters<typeof paymentKey>[0])
    const headers = { 'Idempotency-Key': name }
    const path = '/relayers/main/transactions'
    await stage.service.api('POST', path, stage.chain.ownRequest, headers).catch(() => undefined)
    ask(stage, purchase)
  },
  crowd: async (stage) => {
    standStill(stage, (TIMEOUT_SECONDS + 1) * 1_000)
    for (let count = 0; count < 7; count += 1) ask(stage, await buy(stage, 'honest'))
  },
  standStill: async (stage) => standStill(stage, stage.random.int(500, (TIMEOUT_SECONDS + 2) * 1_000)),
  flood: async (stage) => {
    const { order, mount } = await buy(stage, 'honest')
    stage.work.push(...Array.from({ length: 30 }, () => call(stage, `/${mount}/verify`, order.body)))
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

async function buy(stage: Stage, kind: PayerKind, mount?: Mount): Promise<Purchase> {
  const wanted = stage.chain.kinds.includes(kind) ? kind : 'honest'
  const [order] = await stage.chain.order(wanted, { payments: 1, funds: 1 })
  if (order === undefined) throw new Error('one payment was asked for')
  return add(stage, {
    order,
    mount: wanted === 'token' ? 'any' : (mount ?? stage.random.pick(['x402', 'any'])),
  })
}

function add(
  { purchases }: Stage,
  { order, mount = 'x402', competes = false, isForged = false }: Partial<Purchase> & Pick<Purchase, 'order'>,
): Purchase {
  const purchase: Purchase = {
    order,
    mount,
    competes,
    isForged,
    acts: 0,
    askers: 0,
    answers: [],
    unproved: [],
    paidAtRest: undefined,
  }
  purchases.push(purchase)
  return purchase
}

/** A seller asks for something that the payer has not signed. */
function forged(order: Order, changes: object): Order {
  const { body } = order
  const { accepted } = body.paymentPayload
  return {
    ...order,
    body: {
      ...body,
      paymentPayload: { ...body.paymentPayload, accepted: { ...accepted, ...changes } },
      paymentRequirements: { ...body.paymentRequirements, ...changes },
    },
  }
}

function ask(stage: Stage, purchase: Purchase): void {
  purchase.askers += 1
  stage.work.push(settle(stage, purchase))
}

function act(stage: Stage, purchase: Purchase, what: (() => Promise<unknown>) | undefined): void {
  if (what === undefined) return
  purchase.acts += 1
  const later = stage.random.int(0, 800)
  stage.work.push(pause(later).then(what))
}

function standStill(stage: Stage, ms: number): void {
  stage.stands = true
  stage.work.push(
    pause(ms).then(() => {
      stage.stands = false
    }),
  )
}

async function call({ service }: Stage, path: string, body: object): Promise<Answer> {
  try {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Answer
  } catch {
    return {} // The service was killed.
  }
}

async function settle(stage: Stage, { order, mount, answers, unproved }: Purchase): Promise<Answer> {
  const answer = await call(stage, `/${mount}/settle`, order.body)
  answers.push(answer)
  // Blocks only come, so what the answer could have seen is there now.
  if (answer.success && (await order.paidIn()) === undefined) unproved.push(answer.transaction ?? '')
  return answer
}

/** Waits for rest, lets everybody ask again, and compares what was said with the chain. */
async function conclude(stage: Stage): Promise<Pick<FrontHistory, 'summary' | 'violations'>> {
  const { chain, purchases, service } = stage
  const toldThen = new Map(
    purchases.map((purchase) => [purchase, purchase.askers === 1 ? purchase.answers[0] : undefined]),
  )
  const late = await untilRest(service)
  for (const purchase of purchases) purchase.paidAtRest = await purchase.order.paidIn()
  await Promise.all(purchases.map((purchase) => askUntilFinal(stage, purchase)))
  await Promise.all(purchases.map((purchase) => askUntilFinal(stage, purchase)))
  const later = await untilRest(service)
  const relayed = await chain.relayed()
  const evidence: Evidence = {
    purchases: await Promise.all(
      purchases.map(async (purchase) => ({
        ...purchase,
        payer: purchase.order.payer,
        kind: purchase.order.kind,
        isListed: purchase.order.kind === 'honest' && purchase.mount === 'x402',
        told: toldThen.get(purchase),
        paidIn: purchase.isForged ? undefined : await purchase.order.paidIn(),
      })),
    ),
    relayed,
    received: await chain.received(),
    spentFees: await releasedFees(service, relayed),
    bounds: BOUNDS,
    maxFee: chain.maxFee,
  }
  const paid = evidence.purchases.filter(({ paidIn }) => paidIn !== undefined)
  const lost = relayed.filter(({ hash, payer }) => payer && !paid.some(({ paidIn }) => paidIn === hash))
  const fees = lost.reduce((sum, { fee }) => sum + fee, 0n)
  const reasons = Map.groupBy(purchases, ({ answers }) => answers.at(-1)?.errorReason ?? 'success')
  const told = [...reasons].map(([reason, same]) => `${same.length} ${reason}`).join(', ')
  const summary = `${purchases.length} payments, ${paid.length} made, ${lost.length} failed, which cost ${fees}; told: ${told}`
  return { summary, violations: [...late, ...later, ...judge(evidence)] }
}

async function askUntilFinal(stage: Stage, purchase: Purchase): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  while (!isFinal(await settle(stage, purchase)) && Date.now() < deadline) await pause(500)
}
