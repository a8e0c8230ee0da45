import { createHash } from 'node:crypto'
import { address, getBase58Encoder, getCompiledTransactionMessageEncoder } from '@solana/kit'
import type { Rpc } from '../shared/host.ts'
import { loadedAccounts } from '../shared/solana-accounts.ts'
import {
  COMPUTE_BUDGET_PROGRAM,
  decodeTransaction,
  type Instruction,
  isSignatureOf,
  TOKEN_PROGRAMS,
} from '../shared/solana-transaction.ts'
import { KoraError } from './errors.ts'

type Decoded = NonNullable<ReturnType<typeof decodeTransaction>>

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
}

/** What must be signed already. `all` also refuses a missing signature. */
export type Signatures = 'any' | 'valid' | 'all'

/**
 * Programs of the network, which do in a block what they did in the simulation: compute budget, memo,
 * associated accounts.
 */
const NETWORK_PROGRAMS = [
  '11111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
]
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  COMPUTE_BUDGET_PROGRAM,
  ...TOKEN_PROGRAMS,
  ...NETWORK_PROGRAMS,
])

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const TRANSFER = 2
const ADVANCE_NONCE = 4
const SIGNATURE_BYTES = 64

/**
 * Reads a transaction and resolves its tables. The relayer must be its fee payer and appear in no
 * instruction, so no program gets its authority: not for transfers, rent, new accounts, nonces or tables.
 * @throws KoraError
 */
export async function readTransaction(
  base64: unknown,
  { feePayer, signatures, rpc }: { feePayer: string; signatures: Signatures; rpc: Rpc },
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
  const index = instructions.findIndex(
    (instruction) =>
      (instruction.program === feePayer || instruction.accounts.some((one) => accounts[one] === feePayer)) &&
      !isGift(instruction, accounts, feePayer),
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
  const isUncertain = instructions.some(({ program }) => !KNOWN_PROGRAMS.has(program))
  return { decoded, base64: wire.toString('base64'), hash, accounts, user, isSigned, isUncertain }
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

const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** The network's default limit of an instruction, and the most of a transaction, in compute units. */
const UNITS_PER_INSTRUCTION = 200_000
const MAX_UNITS = 1_400_000

const MAX_TRANSACTION_BYTES = 1_232

/** What an instruction of the compute budget itself takes. */
const UNITS_OF_BUDGET = 150

/**
 * Returns the transaction with its compute budget spelled out, unsigned. A quote is of a transaction that the
 * service completes: it sets what is absent by the market. This one is signed as it is, so a price for
 * priority that it does not set costs nothing, and a limit that it does not set is the network's default. A
 * limit that it sets may be exactly what was measured, so it gets room for what is added to it, and the price
 * is so much lower that this costs nothing.
 */
export function withOwnBudget({ decoded, base64 }: UserTransaction): string {
  const set = new Map(
    decoded.instructions
      .filter(({ program }) => program === COMPUTE_BUDGET_PROGRAM)
      .map(({ data }) => [data[0], Buffer.from(data)]),
  )
  const [limit, price] = [set.get(SET_UNIT_LIMIT), set.get(SET_UNIT_PRICE)]
  if (price === undefined) {
    const roomy = limit && withBudget(decoded, number32(limit.readUInt32LE(1) + UNITS_OF_BUDGET))
    return append(roomy ?? decoded, Buffer.concat([Buffer.from([SET_UNIT_PRICE]), Buffer.alloc(8)])) ?? base64
  }
  const units = limit?.readUInt32LE(1) ?? UNITS_PER_INSTRUCTION * decoded.instructions.length
  const paid = BigInt(Math.min(MAX_UNITS, units))
  const lower = Buffer.from([SET_UNIT_PRICE, ...Buffer.alloc(8)])
  lower.writeBigUInt64LE((price.readBigUInt64LE(1) * paid) / (paid + BigInt(UNITS_OF_BUDGET)), 1)
  const hasRoom = Number(paid) + UNITS_OF_BUDGET <= MAX_UNITS
  const priced = withBudget(decoded, hasRoom ? lower : price)
  const roomy = number32(Number(paid) + UNITS_OF_BUDGET)
  const limited = limit === undefined ? append(priced, roomy) : encode(withBudget(priced, roomy).message)
  if (limited === undefined)
    throw refused('A transaction with a price for priority must set its compute limit.')
  return limited
}

function number32(units: number): Buffer {
  const data = Buffer.from([SET_UNIT_LIMIT, 0, 0, 0, 0])
  data.writeUInt32LE(Math.min(MAX_UNITS, units), 1)
  return data
}

/** Replaces the instruction of the compute budget of the same kind. */
function withBudget(decoded: Decoded, data: Buffer): Decoded {
  const { message, accounts } = decoded
  const instructions = message.instructions.map((one) =>
    accounts[one.programAddressIndex] === COMPUTE_BUDGET_PROGRAM && one.data?.[0] === data[0]
      ? { ...one, data: Uint8Array.from(data) }
      : one,
  )
  return { ...decoded, message: { ...message, instructions } as Decoded['message'] }
}

/** Appends an instruction of the compute budget; undefined if there is no room for it. */
function append({ message }: Decoded, data: Buffer): string | undefined {
  const { staticAccounts, header } = message
  const program = address(COMPUTE_BUDGET_PROGRAM)
  const at = staticAccounts.indexOf(program)
  const added = at < 0 ? 1 : 0
  const moved = (index: number) => (index < staticAccounts.length ? index : index + added)
  const instructions = message.instructions.map((one) => ({
    ...one,
    ...(one.accountIndices && { accountIndices: one.accountIndices.map(moved) }),
  }))
  const longer = {
    ...message,
    staticAccounts: added ? [...staticAccounts, program] : [...staticAccounts],
    header: {
      ...header,
      numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + added,
    },
    instructions: [
      ...instructions,
      {
        programAddressIndex: added ? staticAccounts.length : at,
        data: Uint8Array.from(data),
      },
    ],
  }
  return encode(longer)
}

/** Encodes a message with room for its signatures; undefined if that is too long. */
function encode(message: Decoded['message']): string | undefined {
  const bytes = Uint8Array.from(getCompiledTransactionMessageEncoder().encode(message))
  const count = message.header.numSignerAccounts
  const wire = Buffer.concat([Buffer.from([count]), Buffer.alloc(count * SIGNATURE_BYTES), bytes])
  return wire.length > MAX_TRANSACTION_BYTES ? undefined : wire.toString('base64')
}

/** The message in base64. */
export function messageOf({ decoded }: UserTransaction): string {
  return Buffer.from(decoded.bytes).toString('base64')
}
