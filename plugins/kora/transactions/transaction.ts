import { createHash } from 'node:crypto'
import { address, getBase58Encoder } from '@solana/kit'
import type { Rpc } from '../../shared/host.ts'
import { loadedAccounts } from '../../shared/solana-accounts.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  decodeTransaction,
  type Instruction,
  isSignatureOf,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAMS,
} from '../../shared/solana-transaction.ts'
import { KoraError } from '../errors.ts'

export type Decoded = NonNullable<ReturnType<typeof decodeTransaction>>

/** A transaction of a user whose fee the relayer pays, with the guards passed that need no simulation. */
export interface UserTransaction {
  readonly decoded: Decoded
  /** In base64, with zeros in place of the relayer's signature. */
  readonly base64: string
  /** SHA-256 of the message: all that is signed. Whatever its signatures are, it is the same transaction. */
  readonly hash: string
  /** All accounts of the message in the order of their indexes, those from tables included. */
  readonly accounts: readonly string[]
  /** The first signer besides the relayer. */
  readonly user: string
  /** True if the user's signature is in it. */
  readonly isSigned: boolean
  /** True if it calls programs whose code anybody may have written: they decide once more in the block. */
  readonly isUncertain: boolean
  /** The token programs of the associated accounts that it opens at the relayer's cost. */
  readonly opened: readonly string[]
}

/** What must be signed already. `all` also refuses a missing signature. */
export type Signatures = 'any' | 'valid' | 'all'

/**
 * Programs of the network, which do in a block what they did in the simulation: compute budget, memo,
 * associated accounts.
 */
const NETWORK_PROGRAMS = [
  SYSTEM_PROGRAM,
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  ASSOCIATED_TOKEN_PROGRAM,
]
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  COMPUTE_BUDGET_PROGRAM,
  ...TOKEN_PROGRAMS,
  ...NETWORK_PROGRAMS,
])

const TRANSFER = 2
const ADVANCE_NONCE = 4
export const SIGNATURE_BYTES = 64

/**
 * Reads a transaction and resolves its tables. The relayer must be its fee payer and appear in no
 * instruction, so no program gets its authority: not for transfers, rent, new accounts, nonces or tables. It
 * may receive lamports, and open associated token accounts where that is allowed. @throws KoraError
 */
export async function readTransaction(
  base64: unknown,
  { feePayer, signatures, opensAccounts, rpc }: Reading,
): Promise<UserTransaction> {
  const decoded = decodeTransaction(base64)
  if (decoded === undefined || typeof base64 !== 'string')
    throw invalid('transaction: expected a transaction in base64, legacy or version 0.')
  const { accounts: fixed, message, bytes, instructions } = decoded
  if (fixed[0] !== feePayer) throw refused(`The fee payer must be ${feePayer}, and is ${fixed[0]}.`)
  const [, user] = fixed.slice(0, message.header.numSignerAccounts)
  if (user === undefined) throw refused('The transaction must be signed by a user besides the fee payer.')
  if (isDurable(instructions))
    throw refused('A recent blockhash is expected: a durable nonce never expires, but a price does.')
  const accounts = [...fixed, ...(await resolve(decoded, rpc))]
  const opened = instructions.map((one) => (opensAccounts ? openedIn(one, accounts, feePayer) : undefined))
  const index = instructions.findIndex(
    (instruction, at) =>
      (instruction.program === feePayer || instruction.accounts.some((one) => accounts[one] === feePayer)) &&
      !isGift(instruction, accounts, feePayer) &&
      opened[at] === undefined,
  )
  if (index >= 0)
    throw refused(
      `The fee payer may appear in no instruction but as the receiver of lamports, and appears in instruction ${index}.`,
    )
  await checkSignatures(decoded, signatures)
  const wire = Buffer.from(base64, 'base64')
  wire.fill(0, 1, 1 + SIGNATURE_BYTES)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const isSigned = await isSignatureOf(user, decoded.signatures[address(user)], bytes)
  const isUncertain = instructions.some((one) => !KNOWN_PROGRAMS.has(one.program) || mayCallHook(one))
  return {
    decoded,
    base64: wire.toString('base64'),
    hash,
    accounts,
    user,
    isSigned,
    isUncertain,
    opened: opened.filter((program) => program !== undefined),
  }
}

/** How a transaction is read. */
interface Reading {
  readonly feePayer: string
  readonly signatures: Signatures
  /** The fee payer may pay the rent of associated token accounts. */
  readonly opensAccounts: boolean
  readonly rpc: Rpc
}

/** Where an instruction that opens an account has its payer, the system program and the token program. */
const OPENS = { payer: 0, system: 4, token: 5, accounts: 6 }

/**
 * Returns the token program of the associated account that an instruction opens at the cost of the fee payer,
 * whether the account exists by now or not: until the block, its owner can close it. Undefined for any other
 * instruction.
 */
function openedIn(
  { program, accounts: used, data }: Instruction,
  accounts: readonly string[],
  feePayer: string,
): string | undefined {
  const names = used.map((one) => accounts[one])
  const token = names[OPENS.token] ?? ''
  const isOpening =
    program === ASSOCIATED_TOKEN_PROGRAM &&
    data.length <= 1 &&
    (data[0] ?? 0) <= 1 &&
    names.length >= OPENS.accounts &&
    names.lastIndexOf(feePayer) === OPENS.payer &&
    names[OPENS.system] === SYSTEM_PROGRAM &&
    TOKEN_PROGRAMS.has(token)
  return isOpening ? token : undefined
}

/** The accounts of a transfer of Token-2022 without a hook, or the signers of a multisig account. */
const ACCOUNTS_OF_TRANSFER: ReadonlyMap<number | undefined, number> = new Map([
  [3, 3],
  [12, 4],
  [26, 4],
])

/** The program of a mint's hook is code of a stranger as well. It is among further accounts. */
function mayCallHook({ program, accounts, data }: Instruction): boolean {
  const most = ACCOUNTS_OF_TRANSFER.get(data[0])
  return program === TOKEN_2022_PROGRAM && most !== undefined && accounts.length > most
}

/** A transfer of lamports to the fee payer, which takes nothing of it. */
function isGift(
  { program, accounts: used, data }: Instruction,
  accounts: readonly string[],
  feePayer: string,
) {
  return (
    program === SYSTEM_PROGRAM &&
    data.length === 12 &&
    Buffer.from(data).readUInt32LE() === TRANSFER &&
    used.length === 2 &&
    accounts[used[0] ?? -1] !== feePayer
  )
}

function invalid(message: string): KoraError {
  return new KoraError('InvalidTransaction', message)
}

function refused(message: string): KoraError {
  return new KoraError('ValidationError', message)
}

function isDurable([first]: readonly Instruction[]): boolean {
  return (
    first?.program === SYSTEM_PROGRAM &&
    first.data.length >= 4 &&
    Buffer.from(first.data).readUInt32LE() === ADVANCE_NONCE
  )
}

async function resolve({ lookups }: Decoded, rpc: Rpc): Promise<readonly string[]> {
  const loaded = await loadedAccounts({ lookups }, rpc)
  return loaded.map((one) => {
    if (one === undefined) throw invalid('An account of an address lookup table cannot be resolved.')
    return one
  })
}

async function checkSignatures({ signatures, bytes }: Decoded, wanted: Signatures): Promise<void> {
  if (wanted === 'any') return
  const [, ...others] = Object.entries(signatures)
  for (const [signer, signature] of others) {
    if (signature === null && wanted === 'valid') continue
    if (signature === null) throw invalid(`The signature of ${signer} is missing.`)
    if (!(await isSignatureOf(signer, signature, bytes)))
      throw invalid(`The signature of ${signer} is not of this transaction.`)
  }
}

/** Returns the transaction with the relayer's signature, which is in base58. */
export function withSignature({ base64 }: UserTransaction, signature: string): string {
  const wire = Buffer.from(base64, 'base64')
  wire.set(getBase58Encoder().encode(signature), 1)
  return wire.toString('base64')
}

/** The message in base64. */
export function messageOf({ decoded }: UserTransaction): string {
  return Buffer.from(decoded.bytes).toString('base64')
}
