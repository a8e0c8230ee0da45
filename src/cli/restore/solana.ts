import { COMPUTE_BUDGET_PROGRAM } from '../../chains/solana/wire/addresses.ts'
import { lookupsOf, type Message, programOf, readTransaction } from '../../chains/solana/wire/message.ts'
import type { Schemas } from '../../contract/operations.ts'
import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import { type Endpoint, EndpointError, type Evidence } from './endpoint.ts'
import { byAge } from './evm.ts'

type SolanaTransaction = Extract<Schemas['Transaction'], { network_type: 'solana' }>

/** A transaction of an account as a block has it. */
export interface ListedTransaction {
  readonly signature: string
  readonly slot: number
  readonly failed: boolean
  /** Its instructions in one text (`contentOf`), without the prices, which differ between versions. */
  readonly content: string
}

/** An account of a relayer, and what the records say about it. */
interface Question {
  readonly account: string
  readonly open: readonly Schemas['Transaction'][]
  /** The time in ms at which the oldest open transaction was accepted. No earlier block has any of them. */
  readonly since: number
  /** Signatures of confirmed transactions that were accepted before. */
  readonly anchors: ReadonlySet<string>
  /** Returns the id of the record that has the signature; undefined if none has. */
  readonly recordOf: (signature: string) => Promise<string | undefined>
}

/** Transactions are asked for side by side up to this number. More would meet the limits of hosted nodes. */
const CALLS_AT_ONCE = 4

/**
 * Compares the open transactions of an account with those that its chain has since.
 * @throws EndpointError if the node does not list them back to one that the records have: it is of another
 * network, or has forgotten them
 */
export async function findSolanaEvidence(
  endpoint: Endpoint,
  { account, open, since, anchors, recordOf }: Question,
): Promise<ReadonlyMap<string, Evidence>> {
  const isOpen = new Set(open.map(({ id }) => id))
  const read = limitConcurrency(CALLS_AT_ONCE)
  const signatures = await signaturesSince(endpoint, { account, since, anchors })
  const found = await Promise.all(
    signatures.map((signature) =>
      read(async () => {
        const id = await recordOf(signature)
        return id === undefined || isOpen.has(id) ? readListed(endpoint, account, signature) : undefined
      }),
    ),
  )
  const unexplained = found.filter((one) => one !== undefined)
  return compareContent(open as readonly SolanaTransaction[], unexplained)
}

/**
 * Finds the chain's transaction of each record: the one with its signature, or else the oldest one with its
 * instructions. Pure.
 */
function compareContent(
  open: readonly SolanaTransaction[],
  unexplained: readonly ListedTransaction[],
): ReadonlyMap<string, Evidence> {
  const left = new Set(unexplained.toReversed())
  const found = new Map<string, Evidence>()
  const oldestFirst = open.toSorted(byAge)
  const contents = new Map(open.map((record) => [record.id, contentOf(record)]))
  const take = (isSame: (record: SolanaTransaction, one: ListedTransaction) => boolean) => {
    for (const record of oldestFirst) {
      const same = found.has(record.id) ? undefined : [...left].find((one) => isSame(record, one))
      if (same === undefined) continue
      left.delete(same)
      found.set(record.id, evidenceOf(same))
    }
  }
  take(({ hash }, { signature }) => hash === signature)
  take(({ id }, { content }) => contents.get(id) === content)
  const seen = `None of the ${unexplained.length} transactions that the records do not explain has its instructions.`
  for (const { id } of open) if (!found.has(id)) found.set(id, { included: false, seen })
  return found
}

function evidenceOf({ signature: hash, slot, failed }: ListedTransaction): Evidence {
  const where = `Slot ${slot} has its instructions`
  return failed
    ? { included: undefined, seen: `${where}, and they failed: ${hash}.` }
    : { included: true, hash, seen: `${where}.` }
}

/** Writes what a transaction does in one text, without blockhash, price and limit of compute units. */
function contentOf({ instructions, transaction }: SolanaTransaction): string | undefined {
  if (instructions !== undefined)
    return join(
      instructions.map(({ program_id: program, accounts, data }) => ({
        program,
        accounts: accounts.map(({ pubkey }) => pubkey),
        data,
      })),
    )
  const message = transaction && readTransaction(Buffer.from(transaction, 'base64'))?.message
  return message ? contentOfMessage(message) : undefined
}

interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  /** Base64. */
  readonly data: string
}

function contentOfMessage(message: Message): string {
  const loaded = lookupsOf(message)
  const names = [
    ...message.staticAccounts,
    ...loaded.flatMap(({ lookupTableAddress, writableIndexes }) =>
      writableIndexes.map((index) => `${lookupTableAddress}[${index}]`),
    ),
    ...loaded.flatMap(({ lookupTableAddress, readonlyIndexes }) =>
      readonlyIndexes.map((index) => `${lookupTableAddress}[${index}]`),
    ),
  ]
  return join(
    message.instructions.map((instruction) => ({
      program: programOf(message, instruction),
      accounts: (instruction.accountIndices ?? []).map((index) => names[index] ?? ''),
      data: Buffer.from(instruction.data ?? []).toString('base64'),
    })),
  )
}

function join(instructions: readonly Instruction[]): string {
  return JSON.stringify(instructions.filter(({ program }) => program !== COMPUTE_BUDGET_PROGRAM))
}

interface Listed {
  readonly signature: string
  readonly blockTime?: number | null
}

/** The most signatures of one answer (agave `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const PAGE = 1_000

/** The most signatures that are looked at. An account that has more since the backup is for an explorer. */
const MAX_SIGNATURES = 20_000

/** Clocks of validators may be this far from that of the service, in ms. */
const CLOCK_MS = 600_000

/**
 * Lists the signatures of an account since a time, newest first. One of the records from before proves that
 * the node is of this network, and still has everything since.
 */
async function signaturesSince(
  endpoint: Endpoint,
  { account, since, anchors }: Pick<Question, 'account' | 'since' | 'anchors'>,
): Promise<string[]> {
  const all: string[] = []
  let isAnchored = false
  for (let before: string | undefined; ; ) {
    const options = { limit: PAGE, commitment: 'finalized', ...(before !== undefined && { before }) }
    const page = await endpoint.call<Listed[]>('getSignaturesForAddress', [account, options])
    for (const { signature, blockTime } of page) {
      const at = blockTime == null ? Number.POSITIVE_INFINITY : blockTime * 1_000
      if (isAnchored && at < since - CLOCK_MS) return all
      if (anchors.has(signature)) isAnchored ||= at <= since
      else all.push(signature)
      before = signature
    }
    if (page.length < PAGE) break
    if (all.length > MAX_SIGNATURES) throw new EndpointError(`it lists more than ${MAX_SIGNATURES} of them`)
  }
  if (isAnchored) return all
  throw new EndpointError('it lists no earlier transaction of the account that the records have')
}

interface ReadTransaction {
  readonly slot: number
  readonly meta: { readonly err: unknown }
  readonly transaction: readonly [base64: string, encoding: string]
}

/** Reads what a transaction does. Undefined if the account has not signed it, or if it is of a later version. */
async function readListed(
  endpoint: Endpoint,
  account: string,
  signature: string,
): Promise<ListedTransaction | undefined> {
  const options = { encoding: 'base64', commitment: 'finalized', maxSupportedTransactionVersion: 0 }
  const read = await endpoint.call<ReadTransaction | null>('getTransaction', [signature, options])
  if (read === null) throw new EndpointError(`it lists ${signature}, and does not have it`)
  const message = readTransaction(Buffer.from(read.transaction[0], 'base64'))?.message
  const signers = message?.staticAccounts.slice(0, message.header.numSignerAccounts) ?? []
  if (message === undefined || !signers.some((signer) => signer === account)) return undefined
  const { slot, meta } = read
  return { signature, slot: Number(slot), failed: meta.err != null, content: contentOfMessage(message) }
}
