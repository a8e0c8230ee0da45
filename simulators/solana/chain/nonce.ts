import { createHash } from 'node:crypto'
import { type Address, getAddressDecoder, getBase58Encoder } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { base58 } from '../runtime/bytes.ts'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'
import { isWritable, type Message } from '../runtime/transaction.ts'

/** The instruction of the system program that uses a durable nonce up: a u32, little endian. */
const ADVANCE_NONCE_ACCOUNT = 4

/** Layout of a nonce account (solana-nonce `Versions`, bincode): version, state, authority, nonce, fee. */
const NONCE_ACCOUNT_LENGTH = 80
const CURRENT_VERSION = 1
const INITIALIZED = 1
const STATE_OFFSET = 4
const AUTHORITY_OFFSET = 8
const NONCE_OFFSET = 40

/** The content of a nonce account. */
export interface NonceState {
  readonly address: Address
  readonly authority: Address
  /** The value that a transaction has to carry in place of a blockhash; base58. */
  readonly nonce: string
}

/** The nonce that is made of a blockhash (solana-nonce `DurableNonce::from_blockhash`). */
export function durableNonceOf(blockhash: string): Uint8Array {
  return createHash('sha256')
    .update('DURABLE_NONCE')
    .update(getBase58Encoder().encode(blockhash) as Uint8Array)
    .digest()
}

/**
 * The nonce account that a message begins by advancing (svm-transaction `get_durable_nonce`): the first instruction is
 * AdvanceNonceAccount and its first account may be written.
 */
export function nonceAddressOf(message: Message): Address | undefined {
  const [first] = message.instructions
  if (first === undefined || message.keys[first.programIndex] !== SYSTEM_PROGRAM) return undefined
  if (first.data.length < 4 || Buffer.from(first.data).readUInt32LE(0) !== ADVANCE_NONCE_ACCOUNT)
    return undefined
  const [index] = first.accounts
  if (index === undefined || index >= message.keys.length || !isWritable(message, index)) return undefined
  return message.keys[index]
}

/** Reads a nonce account that is ready for use. */
export function readNonce(address: Address, account: AccountState | undefined): NonceState | undefined {
  if (account?.owner !== SYSTEM_PROGRAM || account.data.length !== NONCE_ACCOUNT_LENGTH) return undefined
  const data = Buffer.from(account.data)
  if (data.readUInt32LE(0) !== CURRENT_VERSION || data.readUInt32LE(STATE_OFFSET) !== INITIALIZED)
    return undefined
  return {
    address,
    authority: getAddressDecoder().decode(data.subarray(AUTHORITY_OFFSET, NONCE_OFFSET)),
    nonce: base58(data.subarray(NONCE_OFFSET, NONCE_OFFSET + 32)),
  }
}

/** The account with another nonce in it. */
export function withNonce(account: AccountState, nonce: Uint8Array): AccountState {
  const data = Uint8Array.from(account.data)
  data.set(nonce, NONCE_OFFSET)
  return { ...account, data }
}

/** Returns true if one of the signers among the accounts of the first instruction is this one. */
export function firstInstructionIsSignedBy(message: Message, authority: Address): boolean {
  const accounts = message.instructions[0]?.accounts ?? []
  return accounts.some(
    (index) => index < message.header.requiredSignatures && message.keys[index] === authority,
  )
}
