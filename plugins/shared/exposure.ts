import { isRecord, locked, type World } from './host.ts'

// What strangers cost the relayer if what they pay with fails: a payer can lose his own money only, and failures are bounded per payer, per payee and
// in all. Values of the plugin remember what is open and what failed; what became of it is looked up.

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
}

/** What became of it: `failed` at the relayer's cost, or `ended` without a failure; `included` in a block that may still go. */
export type End = 'open' | 'included' | 'failed' | 'ended'

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
  look(open: Open): Promise<End>
  /** Makes the error for a limit that is reached, and the one for funds that do not suffice. */
  overLimit(message: string): Error
  underfunded(message: string): Error
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
  /** True if code that a stranger may have written is asked once more in the block. It may have behaved for the simulation alone. */
  readonly isUncertain: boolean
}

interface Failed {
  readonly payee: string
  readonly at: number
}

interface Exposure {
  readonly open: readonly Open[]
  readonly failed: readonly Failed[]
}

/** Failures count for a day. */
const FAILURE_MS = 86_400_000

/** What is remembered is forgotten after two, so that nothing of a payer stays. */
const KEEP_SECONDS = 172_800

/** What one payer may have open at the same time. */
const MAX_OPEN_OF_PAYER = 50

/** For so long after the acceptance, whoever waits for the outcome notes it himself. */
const RECENT_MS = 5_000

/**
 * Checks and sends something of a payer: alone among those of the payer, so that what is open counts against what the payer has.
 * @throws the errors of the rules
 */
export function admit<Verified extends Checked, Result>(
  { payer, group, entry }: Claim,
  rules: ExposureRules,
  { check, send }: { check(): Promise<Verified>; send(checked: Verified): Promise<Result> },
): Promise<Result> {
  const { world, limits } = rules
  const at = { payer: `payer:${payer}`, group: `uncertain:${group}` }
  return locked(world, `${at.payer}:lock`, async () => {
    const known = await refresh(await read(at.payer, entry.key, world), rules, 0)
    if (known.failed.length >= limits.payer)
      throw rules.overLimit(`${known.failed.length} payments of this payer failed within a day.`)
    if (known.open.length >= MAX_OPEN_OF_PAYER)
      throw rules.overLimit(`${known.open.length} payments of this payer are open.`)
    const checked = await check()
    const current = await withFunds({ known, entry, funds: checked.funds }, rules)
    const opened = { ...entry, at: world.now(), isUncertain: checked.isUncertain }
    if (checked.isUncertain) refuseUncertain(current, rules)
    if (checked.isUncertain) await admitUncertain(at.group, opened, rules)
    await store(at.payer, { ...current, open: [...current.open, opened] }, world)
    try {
      return await send(checked)
    } catch (error) {
      if (rules.isRefusal(error)) {
        await store(at.payer, current, world)
        if (checked.isUncertain) await note(at.group, { key: entry.key, end: 'ended' }, world)
      }
      throw error
    }
  })
}

/** Each of those that are open may fail, so they count like failures until a block includes them. */
function refuseUncertain({ open, failed }: Exposure, { limits, overLimit }: ExposureRules): void {
  const mayFail = open.filter(({ isUncertain, isIncluded }) => isUncertain === true && isIncluded !== true)
  if (failed.length + mayFail.length < limits.payer) return
  throw overLimit(
    `${failed.length} payments of this payer failed within a day, and ${mayFail.length} that may fail wait for their block.`,
  )
}

/** Notes what became of something. What nobody waits for is looked up later. */
export async function noteEnd(
  { payer, group, entry: { key } }: Claim,
  end: 'failed' | 'ended',
  world: World,
): Promise<void> {
  for (const at of [`payer:${payer}`, `uncertain:${group}`]) await note(at, { key, end }, world)
}

function note(
  at: string,
  { key, end }: { readonly key: string; readonly end: 'failed' | 'ended' },
  world: World,
): Promise<void> {
  return locked(world, `${at}:lock`, async () => {
    const { open, failed, own } = await read(at, key, world)
    if (own === undefined) return
    const ended = end === 'failed' ? [{ payee: own.payee, at: world.now() }] : []
    await store(at, { open, failed: [...failed, ...ended] }, world)
  })
}

/** Compares what the payer has with what is open and with this. What a block has included meanwhile is looked up once more. */
async function withFunds(
  {
    known,
    entry: { unit, amount },
    funds,
  }: { readonly known: Exposure; readonly entry: Claim['entry']; readonly funds: bigint | undefined },
  rules: ExposureRules,
): Promise<Exposure> {
  const waiting = ({ open }: Exposure) =>
    open
      .filter((each) => each.unit === unit && each.isIncluded !== true)
      .reduce((sum, each) => sum + BigInt(each.amount), 0n)
  if (funds === undefined || waiting(known) + BigInt(amount) <= funds) return known
  const now = await refresh(known, rules, 0)
  if (waiting(now) + BigInt(amount) <= funds) return now
  throw rules.underfunded(
    `The payer has ${funds}, payments of ${waiting(now)} are not included yet, and ${amount} are needed.`,
  )
}

async function admitUncertain(at: string, opened: Open, rules: ExposureRules): Promise<void> {
  const { world, limits } = rules
  await locked(world, `${at}:lock`, async () => {
    const known = await refresh(await read(at, opened.key, world), rules, RECENT_MS)
    const ofPayee = known.failed.filter(({ payee }) => payee === opened.payee).length
    const why = 'What a stranger’s code decides about is refused meanwhile.'
    if (known.failed.length >= limits.all)
      throw rules.overLimit(`${known.failed.length} payments failed within a day. ${why}`)
    if (ofPayee >= limits.payee)
      throw rules.overLimit(`${ofPayee} payments to this payee failed within a day. ${why}`)
    if (known.open.length >= limits.open) throw rules.overLimit(`${known.open.length} payments wait. ${why}`)
    await store(at, { ...known, open: [...known.open, opened] }, world)
  })
}

/** Reads what is known without this one: a process may have died after it noted it, and before it sent it. */
async function read(
  at: string,
  key: string,
  world: World,
): Promise<Exposure & { readonly own: Open | undefined }> {
  const value = await world.kv.get(at)
  if (!isRecord(value)) return { open: [], failed: [], own: undefined }
  const { open, failed } = value as unknown as Exposure
  return {
    open: open.filter((each) => each.key !== key),
    failed: failed.filter((each) => world.now() - each.at < FAILURE_MS),
    own: open.find((each) => each.key === key),
  }
}

async function store(at: string, { open, failed }: Exposure, world: World): Promise<void> {
  if (open.length === 0 && failed.length === 0) await world.kv.del(at)
  else await world.kv.set(at, { open, failed }, { ttlSec: KEEP_SECONDS })
}

/** Looks up what became of those that are open for longer than so many milliseconds. */
async function refresh(
  { open, failed }: Exposure,
  { world, look }: ExposureRules,
  olderMs: number,
): Promise<Exposure> {
  const now = world.now()
  const looked = await Promise.all(
    open.map(async (each) => ({ each, end: now - each.at < olderMs ? ('open' as const) : await look(each) })),
  )
  return {
    open: looked.flatMap(({ each, end }) =>
      end === 'open' || end === 'included' ? [{ ...each, isIncluded: end === 'included' }] : [],
    ),
    failed: [
      ...failed,
      ...looked.flatMap(({ each, end }) => (end === 'failed' ? [{ payee: each.payee, at: now }] : [])),
    ],
  }
}
