import { address, getAddressEncoder, isAddress } from '@solana/kit'
import { isRecord, type Rpc, Unavailable } from '../../shared/host.ts'
import { requestText } from '../../shared/http-text.ts'
import type { AccountInfo, InSlot } from '../../shared/solana-accounts.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../shared/solana-transaction.ts'
import type { SolanaRouter } from '../config.ts'
import { Refusal } from '../exchange.ts'
import type { AccountUse, SaleInstruction } from './instructions.ts'

/** The instruction of a router's program. */
export type RouterInstruction = Pick<SaleInstruction, 'program' | 'accounts' | 'data'>

/** What a router is asked for. */
interface RouteOrder {
  readonly relayer: string
  readonly mint: string
  readonly amount: bigint
  readonly slippageBps: bigint
}

/** An answer that takes longer is none, in ms. There are two, within the time of one step. */
const TIMEOUT_MS = 5_000

/** The longest answer that is read, in characters: a quote lists the pools of its route. */
const MAX_ANSWER = 262_144

/** As many as fit into a transaction without look-up tables, with the accounts of the other instructions. */
const MAX_ACCOUNTS = 20

/**
 * Asks a router with the interface of Jupiter's swap API (`GET /quote`, `POST /swap-instructions`) for the
 * instruction of a swap. The host alone is named in errors, because paths and queries have keys.
 * @throws Unavailable, Refusal for an answer of another shape
 */
export async function askRoute(router: SolanaRouter, order: RouteOrder): Promise<RouterInstruction> {
  const ask = (path: string, body?: string) =>
    requestText(urlOf(router, path, body === undefined ? quoteQuery(order) : {}), {
      ...(body !== undefined && { body }),
      timeoutMs: TIMEOUT_MS,
      maxCharacters: MAX_ANSWER,
    })
  try {
    const quote = await ask('quote')
    // Handed back as it came: to read its numbers would round them. To parse it proves that it is one value.
    JSON.parse(quote)
    const rest = JSON.stringify({
      userPublicKey: order.relayer,
      wrapAndUnwrapSol: false,
      asLegacyTransaction: true,
    })
    const answer: unknown = JSON.parse(
      await ask('swap-instructions', `{"quoteResponse":${quote},${rest.slice(1)}`),
    )
    return readInstruction(isRecord(answer) ? answer.swapInstruction : undefined)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Unavailable(`The router ${new URL(router.url).host} did not answer with JSON in time.`)
  }
}

function quoteQuery({ mint, amount, slippageBps }: RouteOrder): Readonly<Record<string, string>> {
  return {
    inputMint: mint,
    outputMint: WRAPPED_SOL,
    amount: amount.toString(),
    slippageBps: slippageBps.toString(),
    swapMode: 'ExactIn',
    // Accounts of tokens between the two would be the relayer's own.
    onlyDirectRoutes: 'true',
    asLegacyTransaction: 'true',
    maxAccounts: String(MAX_ACCOUNTS),
  }
}

function urlOf({ url }: SolanaRouter, path: string, query: Readonly<Record<string, string>>): URL {
  const made = new URL(url)
  made.pathname = `${made.pathname.replace(/\/+$/, '')}/${path}`
  for (const [name, value] of Object.entries(query)) made.searchParams.set(name, value)
  return made
}

/** Transactions are at most this long, in bytes, so no instruction has more. */
const MAX_DATA_BYTES = 1_232

/** Most accounts of a transaction on every network. */
const MAX_INSTRUCTION_ACCOUNTS = 64

function readInstruction(value: unknown): RouterInstruction {
  const { programId, accounts, data } = isRecord(value) ? value : {}
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : undefined
  const uses = Array.isArray(accounts) ? accounts.map(readUse) : []
  if (
    typeof programId !== 'string' ||
    !isAddress(programId) ||
    bytes === undefined ||
    bytes.toString('base64') !== data ||
    bytes.length > MAX_DATA_BYTES ||
    uses.length === 0 ||
    uses.length > MAX_INSTRUCTION_ACCOUNTS
  )
    throw untrusted('has no swap instruction of the expected shape')
  return { program: programId, accounts: uses, data: Uint8Array.from(bytes) }
}

function readUse(value: unknown): AccountUse {
  const { pubkey, isSigner, isWritable } = isRecord(value) ? value : {}
  if (
    typeof pubkey !== 'string' ||
    !isAddress(pubkey) ||
    typeof isSigner !== 'boolean' ||
    typeof isWritable !== 'boolean'
  )
    throw untrusted('names an account in another shape')
  return { pubkey, isSigner, isWritable }
}

function untrusted(problem: string): Refusal {
  return new Refusal('untrusted_route', `The answer of the router ${problem}. Nothing of it is signed.`)
}

/** The accounts of a relayer in a swap. */
interface OwnAccounts {
  readonly relayer: string
  /** Those that are put in place of others, such as the account that is sold from. */
  readonly replaced: ReadonlyMap<string, string>
}

/**
 * Takes the swap out of an answer: puts the accounts of the sale in the place of the relayer's, and requires
 * what can be told without the chain. Pure.
 *
 * The relayer's signature is in the whole transaction, and a program can use it for everything that it can
 * reach: the accounts of its instruction, with the programs among them. So the system program, which alone
 * can take the relayer's coins or its account, must not be among them (agave `program-runtime`
 * `invoke_context.rs`: a callee must be an account of its caller's instruction).
 * @throws Refusal
 */
export function takeSwap(
  { program, accounts, data }: RouterInstruction,
  { programs }: Pick<SolanaRouter, 'programs'>,
  { relayer, replaced }: OwnAccounts,
): RouterInstruction {
  if (!programs.includes(program)) throw untrusted(`calls ${program}, which is not among the programs`)
  const uses = accounts.map((use) => ({ ...use, pubkey: replaced.get(use.pubkey) ?? use.pubkey }))
  const signer = uses.find(({ isSigner, pubkey }) => isSigner && pubkey !== relayer)
  if (signer !== undefined) throw untrusted(`wants the signature of ${signer.pubkey}`)
  if (uses.some(({ pubkey }) => pubkey === SYSTEM_PROGRAM))
    throw untrusted('hands the system program over, with which the relayer’s coins can be taken')
  return { program, accounts: uses, data }
}

/**
 * The part of an account that is read, in bytes. Programs write whose an account is at its beginning: an
 * account of tokens, a mint, a stake, a nonce, a multisig, a program that can be replaced.
 */
const READ_BYTES = 1_024

/**
 * Requires that no account of a swap, besides those of the sale, belongs to the relayer in any way: none may
 * have the relayer's address in its data. @throws Refusal, Unavailable
 */
export async function requireForeign(
  { accounts }: RouterInstruction,
  { relayer, sale }: { readonly relayer: string; readonly sale: readonly string[] },
  rpc: Rpc,
): Promise<void> {
  const own = new Set([relayer, ...sale])
  const others = [...new Set(accounts.map(({ pubkey }) => pubkey))].filter((each) => !own.has(each))
  if (others.length === 0) return
  const { value } = await rpc<InSlot<readonly (AccountInfo | null)[]>>('getMultipleAccounts', [
    others,
    { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 0, length: READ_BYTES } },
  ])
  if (!Array.isArray(value) || value.length !== others.length)
    throw new Unavailable('The node does not tell the accounts of the swap.')
  const key = Buffer.from(getAddressEncoder().encode(address(relayer)))
  const bad = others.find((_, index) => dataOf(value[index]).includes(key))
  if (bad !== undefined) throw untrusted(`hands over ${bad}, an account of the relayer`)
}

function dataOf(account: unknown): Buffer {
  if (account === null) return Buffer.alloc(0)
  const { data } = isRecord(account) ? account : {}
  if (!Array.isArray(data) || typeof data[0] !== 'string' || data[1] !== 'base64')
    throw new Unavailable('The node tells the accounts of the swap in another form.')
  return Buffer.from(data[0], 'base64')
}
