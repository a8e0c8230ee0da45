import { ApiRefusal, callApi, isRecord, locked, type World } from '../shared/host.ts'
import { findByKey, isEnded } from '../shared/transactions.ts'
import type { Swap } from './config.ts'
import { type Exchange, type Moved, movedBy, Refusal, type Step, type SwapRecord } from './exchange.ts'
import { describeSale, describeStep, keyOf, readOrder, referenceOf } from './names.ts'
import { open } from './open.ts'
import { readStop, stopRouter } from './stops.ts'
import { amountOf, requireDue, termsOf } from './terms.ts'

/** What became of a swap in one look at it. */
export interface Outcome {
  readonly swap: string
  readonly relayer_id: string
  /**
   * `swapped`: proved to have arrived. `waiting`: for the transaction that is named. `refused`: nothing is
   * sold now, see `code`. `ended`: the sale was not executed. `stopped`: an operator has to look.
   */
  readonly state: 'swapped' | 'waiting' | 'refused' | 'ended' | 'stopped'
  readonly code?: string
  readonly message?: string
  readonly transaction_id?: string
  /** Another API key has to approve the transaction. */
  readonly awaits_approval?: true
  /** In the smallest units of the token and the coin. */
  readonly sold?: string
  readonly bought?: string
}

/**
 * A sale with what comes before and after it. Its number is in the idempotency keys of its transactions, so
 * each is sent once, whatever dies and however many processes work on it.
 */
interface Plan {
  readonly number: number
  readonly swap: string
  readonly router: string
  readonly token: string
  readonly amount: bigint
  /** In milliseconds since 1970. */
  readonly at: number
  /** Nothing is sold any more; what was approved is taken back. */
  readonly closing: boolean
}

/** Where a relayer is: the plan that is under way, or the number of the next one. */
type Place = { readonly next: number } | { readonly plan: Plan }

/** Seconds after which the lock of a process that died is free: longer than one step takes. */
const LOCK_SECONDS = 60

/** Takes the next step of the swaps of one relayer, alone among all processes. @throws Unavailable */
export function advance(
  relayerId: string,
  swaps: readonly Swap[],
  world: World,
): Promise<readonly Outcome[]> {
  return locked(world, `swap:${relayerId}:lock`, () => step(relayerId, swaps, world), LOCK_SECONDS)
}

async function step(relayerId: string, swaps: readonly Swap[], world: World): Promise<readonly Outcome[]> {
  const place = await readPlace(relayerId, world)
  if ('plan' in place) {
    const { plan } = place
    const swap = swaps.find(({ id, token }) => id === plan.swap && token === plan.token)
    const outcome = swap && (await refusing(swap, () => goOn(plan, swap, world)))
    if (outcome !== undefined) return [outcome]
    console.warn(`The swap ${plan.swap} of ${relayerId} was changed. Its plan ${plan.number} is dropped.`)
    await keep(relayerId, { next: plan.number + 1 }, world)
    return step(relayerId, swaps, world)
  }
  const outcomes: Outcome[] = []
  for (const swap of swaps) {
    const outcome = await begin(place.next, swap, world)
    outcomes.push(outcome)
    if (outcome.state !== 'refused' && outcome.state !== 'stopped') break
  }
  return outcomes
}

/** What the steps of a plan need. */
interface Work {
  readonly swap: Swap
  readonly exchange: Exchange
  readonly world: World
}

/** Makes a plan if one is due and would succeed now, and takes its first step. */
async function begin(number: number, swap: Swap, world: World): Promise<Outcome> {
  return refusing(swap, async () => {
    const exchange = await open(swap, world)
    const stop = await readStop(exchange.router, swap, world)
    if (stop !== undefined)
      return outcomeOf(swap, { state: 'stopped', transaction_id: stop.id, message: stop.problem })
    const amount = await amountOf(swap, exchange, world)
    await termsOf(swap, { amount, exchange, world })
    const { router } = exchange
    const plan = { number, swap: swap.id, router, token: swap.token, amount, at: world.now(), closing: false }
    // Stored first: who finds what was sent must know for what.
    await keep(swap.relayerId, { plan }, world)
    const work = { swap, exchange, world }
    const outcome = await proceed(plan, work)
    return outcome.state === 'refused' ? close(plan, work, outcome) : outcome
  })
}

/** Takes the next step of a plan; undefined if its router is another one now. */
async function goOn(plan: Plan, swap: Swap, world: World): Promise<Outcome | undefined> {
  const exchange = await open(swap, world)
  return exchange.router === plan.router ? proceed(plan, { swap, exchange, world }) : undefined
}

async function proceed(plan: Plan, work: Work): Promise<Outcome> {
  const { swap, exchange, world } = work
  const sale = await findStep('sell', plan, work)
  if (sale !== undefined) return settle(sale, plan, work)
  const stop = await readStop(exchange.router, swap, world)
  // What comes before the sale has its time, and so has the sale.
  const isLate = world.now() - plan.at > 2 * swap.validSeconds * 1000
  if (plan.closing || stop !== undefined || isLate)
    return close(plan, work, outcomeOf(swap, { state: 'ended', message: 'The plan was given up.' }))
  try {
    return await sell(plan, work)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const refused = refusalOf(swap, error)
    return error.code === 'not_due' ? close(plan, work, refused) : refused
  }
}

/** Sends the sale, or the transaction that must be in a block before it. */
async function sell(plan: Plan, work: Work): Promise<Outcome> {
  const { swap, exchange, world } = work
  const { amount } = plan
  const { token } = await requireDue(swap, exchange)
  if (token - swap.leastLeft < amount)
    throw new Refusal('not_due', `The relayer has ${token} of the token, less than the plan sells.`)
  const before = await exchange.before(amount)
  const sent = before && (await findStep(before.name, plan, work))
  if (sent !== undefined && isEnded(sent.status))
    return close(plan, work, outcomeOf(swap, { state: 'ended', ...endOf(sent) }))
  // If a block has it, the next look may find a node that has the block.
  if (sent !== undefined) return waitFor(sent, swap)
  const { order, sale, rehearsal } = await termsOf(swap, { amount, exchange, world })
  if (before !== undefined) return waitFor(await takeStep(before, plan, work), swap)
  const body = {
    ...exchange.bodyOf(sale),
    ...rehearsal.bounds,
    description: describeSale(order),
    valid_until: new Date(sale.deadline).toISOString(),
  }
  return waitFor(await send(body, 'sell', plan, work), swap)
}

/** Says what became of a sale, as its block proves it. The router has no say. */
async function settle(sale: SwapRecord, plan: Plan, work: Work): Promise<Outcome> {
  const { swap, exchange, world } = work
  const isOver = isEnded(sale.status) || sale.no_op === true
  if (!isOver && sale.status !== 'confirmed') return waitFor(sale, swap)
  if (isOver) return close(plan, work, outcomeOf(swap, { state: 'ended', ...endOf(sale) }))
  const moved = movedBy(sale, exchange)
  const shown = {
    ...(moved && { sold: moved.sold.toString(), bought: moved.bought.toString() }),
    transaction_id: sale.id,
  }
  let problem = problemOf(sale, moved)
  const isKept = problem === undefined
  if (problem !== undefined) await stopRouter(exchange.router, { id: sale.id, problem }, world)
  const after = moved && moved.bought > 0n ? exchange.after(moved.bought) : undefined
  const sent = after && (await takeStep(after, plan, work))
  if (sent !== undefined && (isEnded(sent.status) || sent.no_op === true)) {
    problem ??= `${moved?.bought} arrived, and the transaction ${sent.id} did not unwrap it.`
    if (isKept) await stopRouter(exchange.router, { id: sent.id, problem }, world)
  } else if (sent !== undefined && sent.status !== 'confirmed') return waitFor(sent, swap)
  const state = problem === undefined ? 'swapped' : 'stopped'
  return close(plan, work, outcomeOf(swap, { state, ...(problem && { message: problem }), ...shown }))
}

/** Says what an operator has to look at; undefined for a sale that kept its terms. */
function problemOf({ id, description }: SwapRecord, moved: Moved | undefined): string | undefined {
  if (moved === undefined) return `The transaction ${id} is final, and no node tells what it moved.`
  const order = readOrder(description)
  const { sold, bought } = moved
  if (order !== undefined && bought >= order.least && sold <= order.amount) return undefined
  return `The transaction ${id} took ${sold} of the token and brought ${bought}; at least ${order?.least} were due.`
}

/** Takes back what was approved and is left, and ends the plan. Returns the outcome once that is done. */
async function close(plan: Plan, work: Work, outcome: Outcome): Promise<Outcome> {
  const { swap, exchange, world } = work
  const { relayerId } = swap
  if (!plan.closing) await keep(relayerId, { plan: { ...plan, closing: true } }, world)
  const approval = await findStep('approve', plan, work)
  if (approval !== undefined && isOpen(approval)) return waitFor(approval, swap)
  const cleanup = await exchange.cleanup()
  const sent = cleanup === undefined ? undefined : await takeStep(cleanup, plan, work)
  if (sent !== undefined && isOpen(sent)) return waitFor(sent, swap)
  await keep(relayerId, { next: plan.number + 1 }, world)
  console.info(
    `swap ${swap.id} ${plan.number}: ${outcome.state}${outcome.message ? `: ${outcome.message}` : ''}`,
  )
  return outcome
}

function isOpen({ status }: SwapRecord): boolean {
  return status !== 'confirmed' && !isEnded(status)
}

type StepName = Step['name'] | 'sell'

/** Finds what was sent for a step of a plan; undefined if nothing was. */
function findStep(name: StepName, plan: Plan, { swap, world }: Work): Promise<SwapRecord | undefined> {
  return findByKey<SwapRecord>(swap.relayerId, keyOf(swap.relayerId, plan.number, name), world)
}

/** Returns the transaction of a step, and sends it if there is none. */
async function takeStep(taken: Step, plan: Plan, work: Work): Promise<SwapRecord> {
  const { swap, world } = work
  const found = await findStep(taken.name, plan, work)
  if (found !== undefined) return found
  const body = {
    ...taken.body,
    description: describeStep(swap, taken.does),
    ...(taken.ends && {
      valid_until: new Date(world.now() + swap.validSeconds * 1000).toISOString(),
    }),
  }
  return send(body, taken.name, plan, work)
}

/** @throws Refusal if the service refuses it, such as a rule or a policy */
async function send(body: object, name: StepName, plan: Plan, work: Work): Promise<SwapRecord> {
  const { swap, world } = work
  const { relayerId } = swap
  try {
    const sent = await callApi(world, {
      method: 'POST',
      path: `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions`,
      body: { ...body, reference: referenceOf(relayerId) },
      idempotencyKey: keyOf(relayerId, plan.number, name),
    })
    return sent as SwapRecord
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error
    // Another process, which the lock outlived, has sent this step.
    const isSent = error.code === 'idempotency_key_reused'
    const other = isSent ? await findStep(name, plan, work) : undefined
    if (other !== undefined) return other
    throw new Refusal(error.code, error.message)
  }
}

function waitFor({ id, status, status_reason, awaits_approval }: SwapRecord, swap: Swap): Outcome {
  return outcomeOf(swap, {
    state: 'waiting',
    transaction_id: id,
    message: `The transaction is ${status}.${status_reason === undefined ? '' : ` ${status_reason}`}`,
    ...(awaits_approval === true && { awaits_approval }),
  })
}

function endOf({ id, status, status_reason }: SwapRecord) {
  const reason = status_reason === undefined ? '' : ` ${status_reason}`
  return { transaction_id: id, message: `The transaction ended as ${status}.${reason}` }
}

function outcomeOf({ id, relayerId }: Swap, rest: Omit<Outcome, 'swap' | 'relayer_id'>): Outcome {
  return { swap: id, relayer_id: relayerId, ...rest }
}

function refusalOf(swap: Swap, { code, message }: Refusal | ApiRefusal): Outcome {
  return outcomeOf(swap, { state: 'refused', code, message })
}

async function refusing<Result>(swap: Swap, work: () => Promise<Result>): Promise<Result | Outcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal || error instanceof ApiRefusal) return refusalOf(swap, error)
    throw error
  }
}

function placeKey(relayerId: string): string {
  return `place:${relayerId}`
}

async function readPlace(relayerId: string, world: World): Promise<Place> {
  const value = await world.kv.get(placeKey(relayerId))
  if (!isRecord(value)) return { next: 0 }
  if (!isRecord(value.plan)) return { next: Number(value.next) }
  const { number, swap, router, token, amount, at, closing } = value.plan
  return {
    plan: {
      number: Number(number),
      swap: String(swap),
      router: String(router),
      token: String(token),
      amount: BigInt(String(amount)),
      at: Number(at),
      closing: closing === true,
    },
  }
}

async function keep(relayerId: string, place: Place, world: World): Promise<void> {
  const value = 'plan' in place ? { plan: { ...place.plan, amount: place.plan.amount.toString() } } : place
  await world.kv.set(placeKey(relayerId), value)
}
