import { isPaidByUsers } from '../../sponsoring.ts'
import type { SolanaPolicies } from '../content.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  instructionAccounts,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  type TransactionAccount,
} from '../wire/addresses.ts'
import { type CompiledInstruction, type Message, programOf } from '../wire/message.ts'
import { openedBy } from './effects.ts'

/**
 * The bytes of an associated token account. One of Token-2022 has what its mint asks for: an immutable owner
 * (4), withheld fees (12), not transferable (4), a hook (5), pausable (4), behind the kind of account (1).
 */
const BYTES: ReadonlyMap<string | undefined, bigint> = new Map([
  [TOKEN_PROGRAM, 165n],
  [TOKEN_2022_PROGRAM, 195n],
])

/** Lamports of a byte that stays for ever, and the bytes that each account has besides (agave `Rent`). */
const LAMPORTS_PER_BYTE = 6_960n
const ACCOUNT_BYTES = 128n

/** The instruction names the payer, the system program and the token program at these places. */
const PAYER = 0
const SYSTEM = 4
const TOKEN = 5

/** The parts of a transaction that decide what the relayer pays for its token accounts. */
interface Opening {
  readonly message: Message
  readonly accounts: readonly TransactionAccount[]
  readonly self: string
}

/**
 * Returns the rent that an instruction can take from the relayer to open an associated token account, in
 * lamports; undefined for any other instruction, and where the policies allow none. The associated token
 * program passes the account of the payer to the system program alone. The account counts although it exists
 * by now: until the block, its owner can close it.
 */
export function rentOf(
  { message, accounts, self }: Opening,
  instruction: CompiledInstruction,
  policies: SolanaPolicies,
): bigint | undefined {
  // The service checks that users pay the fee, and not that they pay the rent.
  if (policies.feePayerSpending !== 'token_accounts' || isPaidByUsers(policies)) return undefined
  const program = programOf(message, instruction)
  const used = instructionAccounts(accounts, instruction).map(({ address }) => address)
  const opened = openedBy({ program, accounts: used, data: Buffer.from(instruction.data ?? []) })
  const isOpened = program === ASSOCIATED_TOKEN_PROGRAM && opened !== undefined
  if (!isOpened || used[SYSTEM] !== SYSTEM_PROGRAM || used.lastIndexOf(self) !== PAYER) return undefined
  const bytes = BYTES.get(used[TOKEN])
  return bytes === undefined ? undefined : (ACCOUNT_BYTES + bytes) * LAMPORTS_PER_BYTE
}

/** Returns the most that a transaction can take from the relayer for token accounts, in lamports. */
export function rentIn(opening: Opening, policies: SolanaPolicies): bigint {
  return opening.message.instructions.reduce(
    (sum, instruction) => sum + (rentOf(opening, instruction, policies) ?? 0n),
    0n,
  )
}
