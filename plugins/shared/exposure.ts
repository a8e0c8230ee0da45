import { isRecord, locked, type World } from './host.ts'

// What strangers cost the relayer if what they pay with fails: a payer can lose his own money only, and
// failures are bounded per payer, per payee and in all. Values of the plugin remember what is open and what
// failed; what became of it is looked up.

/** Something that was sent, or signed, and is not known to have ended. */
export interface Open {
  /** Names it. */
  readonly key: string
  /** What pays, and how much of it. */
  readonly unit: string
  readonly amount: string
  readonly payee: string
  /** When it was accepted, in milliseconds. */
  readonly at: number
  /** True if code that a stranger may have written is asked in the block. */
  readonly isUncertain?: boolean
  /** True when a block includes it, so that the payer's balance shows it. */
  readonly isIncluded?: boolean
  /** True when a block includes it without effect, so that it fails if the block stays. */
  readonly isReverted?: boolean
  /** The number of that block; absent if nothing tells. */
  readonly block?: number | undefined
  /** What only one that waits for its block may have, such as a nonce. */
  readonly slots?: readonly string[]
  /**
   * Accounts of which one has the amount more if it paid, where a transaction may succeed without paying; for
   * whoever looks it up.
   */
  readonly receivers?: readonly string[]
}

/**
 * What became of it: `failed` at the relayer's cost, or `ended` without a failure; `included` in a block that
 * may still go, or `reverted` in one.
 */
export type End = 'open' | 'included' | 'reverted' | 'failed' | 'ended'

/** What was found about it. */
export interface Found {
  readonly end: End
  /** The number of the block that includes it; undefined if none does, or nothing tells. */
  readonly block: number | undefined
}

/** The receipt of a transaction as the service shows it: EVM, Stellar, Solana. */
interface Receipt {
  readonly block_number?: number | string
  readonly ledger?: number | string
  readonly slot?: number | string
}

/** Returns the number of the block that includes a transaction; undefined if none does, or nothing tells. */
export function blockOf({ receipt = {} }: { readonly receipt?: Receipt }): number | undefined {
  const number = receipt.block_number ?? receipt.ledger ?? receipt.slot
  return number === undefined ? undefined : Number(number)
}

/** True if the block that includes a transaction, as the service shows it, has it without effect. */
export function isReverted({
  attempts = [],
}: {
  readonly attempts?: readonly { readonly outcome: string }[]
}): boolean {
  return attempts.some(({ outcome }) => outcome === 'reverted')
}

/** How many may fail within a day before further ones are refused. */
export interface FailureLimits {
  /** Of one payer. */
  readonly payer: number
  /** To one payee, and in all, of those that a stranger's code decides about. */
  readonly payee: number
  readonly all: number
  /** Those of that kind that are open at the same time. */
  readonly open: number
}

/** The rules of one plugin. */
export interface ExposureRules {
  readonly world: World
  readonly limits: FailureLimits
  /** What sentences call the payer and what he sends: `payer` and `payments` if absent. */
  readonly words?: { readonly payer: string; readonly payments: string }
  look(open: Open): Promise<Found>
  /** Makes the error for a limit that is reached, and the one for funds that do not suffice. */
  overLimit(message: string): Error
  underfunded(message: string): Error
  /** Makes the error for a slot that another one has, which waits for its block. */
  occupied?(slot: string, by: Open): Error
  /** True for an error that says that nothing was sent or signed. */
  isRefusal(error: unknown): boolean
}

/** What is asked to be admitted. */
export interface Claim {
  /** Names the payer among the plugin's values. */
  readonly payer: string
  /** Names those whose payments are uncertain, e.g. of one network. */
  readonly group: string
  readonly entry: Omit<Open, 'at' | 'isUncertain'>
}

/** What a check of it found. */
export interface Checked {
  /** What the payer has of the unit; undefined if nothing tells. */
  readonly funds: bigint | undefined
  /** The number of the block as of which that was read; undefined if nothing tells. */
  readonly block: number | undefined
  /**
   * True if code that a stranger may have written is asked once more in the block. It may have behaved for
   * the simulation alone.
   */
  readonly isUncertain: boolean
}

interface Failed {
  readonly payee: string
  readonly at: number
}

interface Exposure {
  readonly open: readonly Open[]
  readonly failed: readonly Failed[]
  /**
   * What ended in a block that a node which is behind may not have yet: then the payer's balance does not
   * show it.
   */
  readonly included: readonly Included[]
}

interface Included extends Pick<Open, 'unit' | 'amount'> {
  readonly block: number
  /** When its end was noted, in milliseconds. */
  readonly at: number
}

const WORDS = { payer: 'payer', payments: 'payments' }

/** Failures count for a day. */
const FAILURE_MS = 86_400_000

/** What is remembered is forgotten after two, so that nothing of a payer stays. */
const KEEP_SECONDS = 172_800

/** What one payer may have open at the same time. */
const MAX_OPEN_OF_PAYER = 50

/** A node that is asked is not further behind than this. */
const BEHIND_MS = 60_000

/** The newest ones suffice: every node has the blocks of the others. */
const MAX_INCLUDED = 50

/** For so long after the acceptance, whoever waits for the outcome notes it himself. */
const RECENT_MS = 5_000

/**
 * Checks and sends something of a payer: alone among those of the payer, so that what is open counts against
 * what the payer has.
 * @throws the errors of the rules
 */
export function admit<Verified extends Checked, Result>(
  { payer, group, entry }: Claim,
  rules: ExposureRules,
  { check, send }: { check(): Promise<Verified>; send(checked: Verified): Promise<Result> },
): Promise<Result> {
  const { world } = rules
  const at = { payer: `payer:${payer}`, group: `uncertain:${group}` }
  return locked(world, `${at.payer}:lock`, async () => {
    const { checked, current } = await checkFunds({ at: at.payer, entry }, rules, check)
    const opened = { ...entry, at: world.now(), isUncertain: checked.isUncertain }
    if (checked.isUncertain) refuseUncertain(current, rules)
    if (checked.isUncertain) await admitUncertain(at.group, opened, rules)
    await store(at.payer, { ...current, open: [...current.open, opened] }, world)
    try {
      return await send(checked)
    } catch (error) {
      if (rules.isRefusal(error)) {
        await store(at.payer, current, world)
        if (checked.isUncertain)
          await note(at.group, { key: entry.key, end: 'ended', block: undefined }, world)
      }
      throw error
    }
  })
}

/** Each of those that are open may fail, so they count like failures until a block includes them. */
function refuseUncertain(known: Exposure, { limits, overLimit, words = WORDS }: ExposureRules): void {
  const failed = failuresIn(known).length
  const mayFail = known.open.filter(
    ({ isUncertain, isIncluded, isReverted: hasFailed }) => isUncertain && !isIncluded && !hasFailed,
  ).length
  if (failed + mayFail < limits.payer) return
  throw overLimit(
    `${failed} ${words.payments} of this ${words.payer} failed within a day, and ${mayFail} that may fail wait for their block.`,
  )
}

/** Lists the failures, with those whose block may still go. */
function failuresIn({ open, failed }: Exposure): readonly Pick<Failed, 'payee'>[] {
  return [...failed, ...open.filter((each) => each.isReverted)]
}

/** The end of something, as whoever waited for it notes it. */
export interface Ended extends Found {
  readonly end: 'failed' | 'ended'
}

/** Notes what became of something. What nobody waits for is looked up later. */
export async function noteEnd(
  { payer, group, entry: { key } }: Claim,
  ended: Ended,
  world: World,
): Promise<void> {
  await note(`payer:${payer}`, { key, ...ended }, world)
  await note(`uncertain:${group}`, { key, ...ended, block: undefined }, world)
}

/** Looks up what is open of a payer, and forgets what ended. For events that tell an end. */
export function settle(payer: string, rules: ExposureRules): Promise<void> {
  const at = `payer:${payer}`
  return locked(rules.world, `${at}:lock`, async () => {
    const { own: _, ...known } = await read(at, undefined, rules.world)
    if (known.open.length > 0) await store(at, await refresh(known, rules, 0), rules.world)
  })
}

function note(
  at: string,
  { key, end, block }: Ended & { readonly key: string },
  world: World,
): Promise<void> {
  return locked(world, `${at}:lock`, async () => {
    const { own, ...known } = await read(at, key, world)
    if (own !== undefined) await store(at, withEnd(known, { each: own, end, block }, world.now()), world)
  })
}

/** Adds the end of something that is no longer open. */
function withEnd(
  { open, failed, included }: Exposure,
  { each: { payee, unit, amount }, end, block }: Ended & { readonly each: Open },
  at: number,
): Exposure {
  return {
    open,
    failed: end === 'failed' ? [...failed, { payee, at }] : failed,
    included:
      block === undefined ? included : [...included, { unit, amount, block, at }].slice(-MAX_INCLUDED),
  }
}

/**
 * Checks it, and compares what the payer has with what is open and with this. What is open is looked up
 * before, so that the balance shows what a block included by then. Where it does not suffice, a block may
 * have included something in between, so both are done once more.
 */
async function checkFunds<Verified extends Checked>(
  { at, entry }: { readonly at: string; readonly entry: Claim['entry'] },
  rules: ExposureRules,
  check: () => Promise<Verified>,
): Promise<{ readonly checked: Verified; readonly current: Exposure }> {
  let known: Exposure = await read(at, entry.key, rules.world)
  for (let isLast = false; ; isLast = true) {
    known = await refresh(known, rules, 0)
    refuseMany(known, rules)
    refuseOccupied(known, entry, rules)
    const checked = await check()
    const current = { ...known, included: known.included.filter((each) => !isShown(each, checked)) }
    const waiting = [
      ...current.open.filter((each) => !each.isReverted && !(each.isIncluded && isShown(each, checked))),
      ...current.included,
    ]
      .filter(({ unit }) => unit === entry.unit)
      .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
    const { funds } = checked
    if (funds === undefined || waiting + BigInt(entry.amount) <= funds) return { checked, current }
    if (isLast)
      throw rules.underfunded(
        `The payer has ${funds}, payments of ${waiting} are not included yet, and ${entry.amount} are needed.`,
      )
  }
}

/** True if a balance shows what this block includes. Where nothing tells a block, it is taken to. */
function isShown({ block = 0 }: Pick<Open, 'block'>, { block: newest = Infinity }: Checked): boolean {
  return block <= newest
}

function refuseMany(known: Exposure, { limits, overLimit, words = WORDS }: ExposureRules): void {
  const { open } = known
  const ofPayer = `${words.payments} of this ${words.payer}`
  const failed = failuresIn(known).length
  if (failed >= limits.payer) throw overLimit(`${failed} ${ofPayer} failed within a day.`)
  if (open.length >= MAX_OPEN_OF_PAYER) throw overLimit(`${open.length} ${ofPayer} are open.`)
}

function refuseOccupied(
  { open }: Exposure,
  { slots = [] }: Claim['entry'],
  { occupied }: ExposureRules,
): void {
  for (const each of open) {
    const slot = slots.find((name) => each.slots?.includes(name))
    if (slot !== undefined && occupied && !each.isIncluded && !each.isReverted) throw occupied(slot, each)
  }
}

async function admitUncertain(at: string, opened: Open, rules: ExposureRules): Promise<void> {
  const { world, limits, words = WORDS } = rules
  await locked(world, `${at}:lock`, async () => {
    const known = await refresh(await read(at, opened.key, world), rules, RECENT_MS)
    const failed = failuresIn(known)
    const ofPayee = failed.filter(({ payee }) => payee === opened.payee).length
    const why = 'What a stranger’s code decides about is refused meanwhile.'
    if (failed.length >= limits.all)
      throw rules.overLimit(`${failed.length} ${words.payments} failed within a day. ${why}`)
    if (ofPayee >= limits.payee)
      throw rules.overLimit(`${ofPayee} payments to this payee failed within a day. ${why}`)
    if (known.open.length >= limits.open)
      throw rules.overLimit(`${known.open.length} ${words.payments} wait. ${why}`)
    await store(at, { ...known, open: [...known.open, opened] }, world)
  })
}

/** Reads what is known without this one: a process may have died after it noted it, and before it sent it. */
async function read(
  at: string,
  key: string | undefined,
  world: World,
): Promise<Exposure & { readonly own: Open | undefined }> {
  const value = await world.kv.get(at)
  if (!isRecord(value)) return { open: [], failed: [], included: [], own: undefined }
  const { open, failed, included } = value as unknown as Exposure
  return {
    included: included.filter((each) => world.now() - each.at < BEHIND_MS),
    open: open.filter((each) => each.key !== key),
    failed: failed.filter((each) => world.now() - each.at < FAILURE_MS),
    own: open.find((each) => each.key === key),
  }
}

async function store(at: string, exposure: Exposure, world: World): Promise<void> {
  const { open, failed, included } = exposure
  const hasDays = open.length > 0 || failed.length > 0
  if (!hasDays && included.length === 0) await world.kv.del(at)
  else
    await world.kv.set(at, { open, failed, included }, { ttlSec: hasDays ? KEEP_SECONDS : BEHIND_MS / 1_000 })
}

/** Looks up what became of those that are open for longer than so many milliseconds. */
async function refresh(
  { open, ...ended }: Exposure,
  { world, look }: ExposureRules,
  olderMs: number,
): Promise<Exposure> {
  const now = world.now()
  const looked = await Promise.all(
    open.map(async (each) => {
      const found: Found = now - each.at < olderMs ? { end: 'open', block: undefined } : await look(each)
      return { each, ...found }
    }),
  )
  let known: Exposure = {
    ...ended,
    open: looked.flatMap(({ each, end, block }) =>
      end === 'failed' || end === 'ended'
        ? []
        : [{ ...each, isIncluded: end === 'included', isReverted: end === 'reverted', block }],
    ),
  }
  for (const { each, end, block } of looked)
    if (end === 'failed' || end === 'ended') known = withEnd(known, { each, end, block }, now)
  return known
}
