import { accountsOf, instructionAccounts, SYSTEM_PROGRAM, type TransactionAccount } from './addresses.ts'
import { type CompiledInstruction, type Message, programOf } from './message.ts'

/**
 * Numbers of the system program's instructions, in the first four bytes of their data (`SystemInstruction`).
 */
const KINDS = {
  createAccount: 0,
  transfer: 2,
  createAccountWithSeed: 3,
  advanceNonce: 4,
  withdrawNonce: 5,
  initializeNonce: 6,
  allocate: 8,
  transferWithSeed: 11,
} as const

/** A kind of instruction of the system program. */
export type SystemKind = keyof typeof KINDS

const NAMES: ReadonlyMap<number, SystemKind> = new Map(
  (Object.keys(KINDS) as SystemKind[]).map((name) => [KINDS[name], name]),
)

/**
 * Returns the kind of an instruction of the system program; undefined for other programs and for kinds that
 * do not matter here.
 */
export function systemKind(message: Message, instruction: CompiledInstruction): SystemKind | undefined {
  return programOf(message, instruction) === SYSTEM_PROGRAM
    ? systemKindOf(Buffer.from(instruction.data ?? []))
    : undefined
}

/**
 * Returns the kind that the data of an instruction of the system program names; undefined for kinds that do
 * not matter here.
 */
export function systemKindOf(data: Buffer): SystemKind | undefined {
  return data.length < 4 ? undefined : NAMES.get(data.readUInt32LE(0))
}

/**
 * Returns the data of a transfer of lamports, in base64: the number of the instruction, then the amount
 * (`SystemInstruction::Transfer`).
 */
export function transferData(lamports: bigint): string {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(KINDS.transfer, 0)
  data.writeBigUInt64LE(lamports, 4)
  return data.toString('base64')
}

/**
 * Explains why a transaction that begins by advancing a nonce account does not use that nonce: the account
 * must be a static account of the message, and writable (agave `svm-transaction/src/svm_message.rs`
 * `get_durable_nonce`).
 */
export function nonceProblem(message: Message): string | undefined {
  const [first] = message.instructions
  if (first === undefined || systemKind(message, first) !== 'advanceNonce') return undefined
  const [index] = first.accountIndices ?? []
  const account = index === undefined ? undefined : accountsOf(message)[index]
  return account?.writable
    ? undefined
    : 'instruction 0 advances a nonce account, which must be writable and not from a table.'
}

/**
 * Returns the nonce account when the first instruction advances one; its value then replaces the blockhash.
 */
export function nonceAccountOf(
  message: Message,
  accounts: readonly TransactionAccount[],
): string | undefined {
  const [first] = message.instructions
  if (first === undefined || systemKind(message, first) !== 'advanceNonce') return undefined
  return instructionAccounts(accounts, first)[0]?.address
}

/**
 * Returns the lamports that instructions of the system program openly take from `payer`. Other programs may
 * take more.
 */
export function openOutflow(
  message: Message,
  accounts: readonly TransactionAccount[],
  payer: string,
): bigint {
  return message.instructions.reduce((sum, instruction) => {
    const amount =
      programOf(message, instruction) === SYSTEM_PROGRAM
        ? lamportsIn(Buffer.from(instruction.data ?? []))
        : undefined
    const [from] = instructionAccounts(accounts, instruction)
    return amount !== undefined && from?.address === payer ? sum + amount : sum
  }, 0n)
}

/**
 * Returns the lamports that an instruction of the system program takes from its first account; undefined if
 * it names none.
 */
export function lamportsIn(data: Buffer): bigint | undefined {
  const kind = systemKindOf(data)
  if (kind === 'transfer' || kind === 'createAccount' || kind === 'transferWithSeed') {
    return data.length >= 12 ? data.readBigUInt64LE(4) : undefined
  }
  if (kind !== 'createAccountWithSeed') return undefined
  // The data contains the base key, then the seed as a text with its length in eight bytes, then the
  // lamports.
  const seedLength = data.length >= 44 ? data.readBigUInt64LE(36) : undefined
  if (seedLength === undefined || seedLength > 32n) return undefined
  const at = 44 + Number(seedLength)
  return data.length >= at + 8 ? data.readBigUInt64LE(at) : undefined
}
