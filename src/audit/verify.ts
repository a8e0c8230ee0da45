import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { EntryPosition, StoredEntry } from './entry.ts'
import { entryHash, FIRST_HASH } from './entry-hash.ts'
import { onSnapshot, readChain, readHeads, type StoredHead } from './verify-store.ts'

/** The result for one chain. */
export interface ChainReport {
  readonly chain: string
  /** The number of entries that fit, from the first one on. */
  readonly entries: bigint
  /** The hash, in hex, of the last entry that fits. Who keeps it elsewhere can prove later that nothing up to it was rewritten. */
  readonly head: string
  /** The first thing that does not fit; undefined for a whole chain. */
  readonly problem: ChainProblem | undefined
}

/**
 * `changed`: the content of the entry, its hash, or its place · `missing`: there is no entry with this number, and there was one ·
 * `head_changed`: the stored end of the chain is another one · `appended`: entries past the stored end, which the service did not write ·
 * `rewritten`: no entry has the hash that was kept elsewhere.
 */
export interface ChainProblem {
  readonly kind: 'changed' | 'missing' | 'head_changed' | 'appended' | 'rewritten'
  /** The number of the entry. */
  readonly entry: bigint
}

/** The hashes, in hex by chain, that somebody has kept elsewhere. */
type KeptHeads = ReadonlyMap<string, string>

/** Computes the hashes of all entries again, on one view of the database, and reports each chain in the order of the names. */
export function verifyLog(db: Kysely<Schema>, kept: KeptHeads = new Map()): Promise<ChainReport[]> {
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

async function verifyChain(
  db: Kysely<Schema>,
  head: StoredHead,
  kept: string | undefined,
): Promise<ChainReport> {
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
