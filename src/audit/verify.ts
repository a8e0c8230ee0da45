import type { Db } from '../database/db.ts'
import { type EntryPosition, entryHash, FIRST_HASH, type StoredEntry } from './entry.ts'
import { onSnapshot, readChain, readHeads, type StoredHead } from './read-store.ts'

/** The result for one chain. */
export interface ChainReport {
  readonly chain: string
  /** The number of entries that fit, from the first one on. */
  readonly entries: bigint
  /**
   * The hash, in hex, of the last entry that fits. Who keeps it elsewhere can prove later that nothing up to
   * it was rewritten.
   */
  readonly head: string
  /** The first thing that does not fit; undefined for a whole chain. */
  readonly problem: ChainProblem | undefined
}

/**
 * `changed`: the content of the entry, its hash, or its place · `missing`: there is no entry with this
 * number, and there was one · `head_changed`: the stored end of the chain is another one · `appended`:
 * entries past the stored end, which the service did not write · `rewritten`: no entry has the hash that was
 * kept elsewhere.
 */
export interface ChainProblem {
  readonly kind: 'changed' | 'missing' | 'head_changed' | 'appended' | 'rewritten'
  /** The number of the entry. */
  readonly entry: bigint
}

/** The hashes, in hex by chain, that were kept elsewhere. */
type KeptHeads = ReadonlyMap<string, string>

/**
 * Computes the hashes of all entries again, on one view of the database, and reports each chain in the order
 * of the names.
 */
export function verifyLog(db: Db, kept: KeptHeads = new Map()): Promise<ChainReport[]> {
  return onSnapshot(db, async (snapshot) => {
    const heads = await readHeads(snapshot)
    const stored = new Set(heads.map(({ chain }) => chain))
    const gone = [...kept.keys()].filter((chain) => !stored.has(chain))
    const all = [...heads, ...gone.map((chain) => ({ chain, number: 0n, hash: FIRST_HASH }))]
    const reports: ChainReport[] = []
    for (const head of all) reports.push(await verifyChain(snapshot, head, kept.get(head.chain)))
    return reports
  })
}

/**
 * Verifies entries that were read over the API, newest first. It computes every hash itself, so it does not
 * trust the service; only a kept hash shows where a chain must end. Entries of a chain may be out of order,
 * because the log is listed by time.
 */
export async function verifyEntries(
  entries: AsyncIterable<StoredEntry>,
  kept: KeptHeads = new Map(),
): Promise<ChainReport[]> {
  const chains = new Map<string, ReadChain>([...kept.keys()].map((chain) => [chain, newReadChain()]))
  for await (const entry of entries) {
    const chain = chains.get(entry.chain) ?? newReadChain()
    chains.set(entry.chain, chain)
    addEntry(chain, entry, kept.get(entry.chain))
  }
  return [...chains]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, chain]) => reportOf(name, chain, kept.get(name)))
}

/** A chain of which a part is read. An entry is let go when both of its neighbours are known. */
interface ReadChain {
  /** By number: entries that wait for the one before them. */
  readonly waiting: Map<bigint, StoredEntry>
  /** By number: the hashes that the next entry will need. */
  readonly hashes: Map<bigint, Uint8Array>
  isKept: boolean
  /** The problem with the lowest number, and the hash of the entry before it. */
  broken?: { readonly problem: ChainProblem; readonly head: Uint8Array }
}

function newReadChain(): ReadChain {
  return { waiting: new Map(), hashes: new Map([[0n, FIRST_HASH]]), isKept: false }
}

function addEntry(chain: ReadChain, entry: StoredEntry, kept: string | undefined): void {
  chain.isKept ||= hex(entry.hash) === kept
  chain.hashes.set(entry.number, entry.hash)
  chain.waiting.set(entry.number, entry)
  for (const number of [entry.number, entry.number + 1n]) {
    const later = chain.waiting.get(number)
    const before = chain.hashes.get(number - 1n)
    if (later === undefined || before === undefined) continue
    chain.waiting.delete(number)
    chain.hashes.delete(number - 1n)
    noteProblem(chain, checkEntry({ number: number - 1n, hash: before }, later), before)
  }
}

function noteProblem(chain: ReadChain, problem: ChainProblem | undefined, head: Uint8Array): void {
  if (problem === undefined) return
  if (chain.broken === undefined || problem.entry < chain.broken.problem.entry)
    chain.broken = { problem, head }
}

function reportOf(name: string, chain: ReadChain, kept: string | undefined): ChainReport {
  // An entry that still waits has no entry before it. The hashes that are left are those before a gap, and
  // that of the end.
  const ends = [...chain.hashes].sort(([one], [other]) => (one < other ? -1 : 1))
  const [[number, hash] = [0n, FIRST_HASH]] = ends
  if (chain.waiting.size > 0) noteProblem(chain, { kind: 'missing', entry: number + 1n }, hash)
  const { broken } = chain
  if (broken !== undefined)
    return {
      chain: name,
      entries: broken.problem.entry - 1n,
      head: hex(broken.head),
      problem: broken.problem,
    }
  const isKept = kept === undefined || chain.isKept || kept === hex(FIRST_HASH)
  return {
    chain: name,
    entries: number,
    head: hex(hash),
    problem: isKept ? undefined : { kind: 'rewritten', entry: number },
  }
}

async function verifyChain(db: Db, head: StoredHead, kept: string | undefined): Promise<ChainReport> {
  let link: Link = { number: 0n, hash: FIRST_HASH }
  let isKept = kept === undefined || kept === hex(FIRST_HASH)
  const report = (problem: ChainProblem | undefined): ChainReport => ({
    chain: head.chain,
    entries: link.number,
    head: hex(link.hash),
    problem,
  })
  for await (const page of readChain(db, head.chain)) {
    for (const entry of page) {
      const problem = checkEntry(link, entry)
      if (problem !== undefined) return report(problem)
      link = entry
      isKept ||= hex(entry.hash) === kept
    }
  }
  const rewritten: ChainProblem | undefined = isKept ? undefined : { kind: 'rewritten', entry: link.number }
  return report(checkHead(link, head) ?? rewritten)
}

/** The last entry that fits, or the beginning of a chain. */
type Link = Pick<EntryPosition, 'number'> & Pick<StoredEntry, 'hash'>

/** Compares an entry with the one before it. Pure. */
function checkEntry(previous: Link, entry: StoredEntry): ChainProblem | undefined {
  const expected = previous.number + 1n
  if (entry.number > expected) return { kind: 'missing', entry: expected }
  const isWhole = entry.number === expected && hex(entryHash(previous.hash, entry)) === hex(entry.hash)
  return isWhole ? undefined : { kind: 'changed', entry: entry.number }
}

/** Compares the last entry with the stored end. Pure. */
function checkHead(last: Link, { number, hash }: StoredHead): ChainProblem | undefined {
  if (number === undefined || hash === undefined) return { kind: 'head_changed', entry: last.number }
  if (number > last.number) return { kind: 'missing', entry: last.number + 1n }
  if (number < last.number) return { kind: 'appended', entry: number + 1n }
  return hex(hash) === hex(last.hash) ? undefined : { kind: 'head_changed', entry: number }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
