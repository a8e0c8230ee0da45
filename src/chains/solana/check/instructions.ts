import type { SolanaInstruction } from '../content.ts'
import { composeMessage } from '../prepare/compose.ts'
import { isAddress } from '../wire/base58.ts'
import { decodeMessage, encodeMessage } from '../wire/message.ts'
import { MAX_TRANSACTION_BYTES, transactionSize } from '../wire/transaction.ts'
import { type Problem, readBase64 } from './fields.ts'
import { ACCOUNT_LOCKS, checkLimits, MAX_INSTRUCTIONS } from './limits.ts'

/** The limit of accounts, for each instruction and for all together: without tables, more than 38 do not fit into the bytes anyway. */
const [MAX_ACCOUNTS] = ACCOUNT_LOCKS

/** Checks instructions from which the service builds a transaction. */
export function checkInstructions(instructions: readonly SolanaInstruction[], self: string): Problem {
  if (instructions.length > MAX_INSTRUCTIONS) {
    return `instructions: at most ${MAX_INSTRUCTIONS} are expected, ${instructions.length} were given.`
  }
  for (const [index, instruction] of instructions.entries()) {
    const problem = checkInstruction(instruction, `instructions[${index}]`, self)
    if (problem !== undefined) return problem
  }
  return checkTogether(instructions, self)
}

function checkInstruction(
  { programId, accounts, data }: SolanaInstruction,
  at: string,
  self: string,
): Problem {
  if (!isAddress(programId)) return `${at}.program_id: 32 bytes in base58 are expected.`
  if (programId === self) return `${at}.program_id: a program is expected, not the relayer's own account.`
  if (accounts.length > MAX_ACCOUNTS) {
    return `${at}.accounts: at most ${MAX_ACCOUNTS} are expected, ${accounts.length} were given.`
  }
  for (const [index, { pubkey, isSigner }] of accounts.entries()) {
    const path = `${at}.accounts[${index}]`
    if (!isAddress(pubkey)) return `${path}.pubkey: 32 bytes in base58 are expected.`
    if (isSigner && pubkey !== self)
      return `${path}.is_signer: only the relayer ${self} signs; send what others sign as a transaction.`
  }
  const bytes = readBase64(data)
  if (bytes === undefined) return `${at}.data: base64 with padding is expected.`
  return bytes.length > MAX_TRANSACTION_BYTES
    ? `${at}.data: at most ${MAX_TRANSACTION_BYTES} bytes are expected, ${bytes.length} were given.`
    : undefined
}

function checkTogether(instructions: readonly SolanaInstruction[], self: string): Problem {
  const message = composeMessage(self, instructions)
  const count = message.staticAccounts.length
  if (count > MAX_ACCOUNTS) {
    return `instructions: together at most ${MAX_ACCOUNTS} different accounts are expected, ${count} were given.`
  }
  const size = transactionSize(message)
  if (size > MAX_TRANSACTION_BYTES) {
    return `instructions: at most ${MAX_TRANSACTION_BYTES} bytes of a transaction are expected, these make ${size}.`
  }
  if (decodeMessage(encodeMessage(message)) === undefined)
    return 'instructions: the network would not accept the transaction that they make.'
  const problem = checkLimits(message)
  return problem && `instructions: ${problem}`
}
