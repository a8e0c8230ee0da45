import { accountsOf, type TransactionAccount } from './addresses.ts'
import { decodeMessage, encodeMessage, type Message } from './message.ts'

/** An instruction to add, with its accounts by address. */
export interface AddedInstruction {
  readonly program: string
  readonly accounts: readonly TransactionAccount[]
  readonly data: Uint8Array
}

/**
 * Returns the message with another fee payer and further instructions, which come last: some instructions
 * refer to others by index. Accounts from tables stay in them. Returns undefined if the network would not
 * accept the result.
 */
export function withPayer(
  message: Message,
  payer: string,
  added: readonly AddedInstruction[],
): Message | undefined {
  const accounts = arrange(message, payer, added)
  const indexOf = new Map(accounts.map(({ address }, index) => [address, index]))
  const before = message.staticAccounts
  const shift = accounts.length - before.length
  const move = (index: number) =>
    index < before.length ? (indexOf.get(before[index] ?? '') ?? 0) : index + shift
  const moved = {
    ...message,
    header: {
      numSignerAccounts: accounts.filter(({ signer }) => signer).length,
      numReadonlySignerAccounts: accounts.filter(({ signer, writable }) => signer && !writable).length,
      numReadonlyNonSignerAccounts: accounts.filter(({ signer, writable }) => !signer && !writable).length,
    },
    staticAccounts: accounts.map(({ address }) => address) as Message['staticAccounts'],
    instructions: [
      ...message.instructions.map(
        ({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
          programAddressIndex: move(programAddressIndex),
          accountIndices: accountIndices.map(move),
          data,
        }),
      ),
      ...added.map((one) => ({
        programAddressIndex: indexOf.get(one.program) ?? 0,
        accountIndices: one.accounts.map(({ address }) => indexOf.get(address) ?? 0),
        data: one.data,
      })),
    ],
  }
  return decodeMessage(encodeMessage(moved))
}

/** The payer comes first, then the other signers, and in each part those that are written come first. */
function arrange(
  message: Message,
  payer: string,
  added: readonly AddedInstruction[],
): readonly TransactionAccount[] {
  const named = [
    { address: payer, signer: true, writable: true },
    ...accountsOf(message),
    ...added.flatMap(({ accounts }) => accounts),
    ...added.map(({ program }) => ({ address: program, signer: false, writable: false })),
  ]
  const merged = [...Map.groupBy(named, ({ address }) => address)].map(([address, uses]) => ({
    address,
    signer: uses.some(({ signer }) => signer),
    writable: uses.some(({ writable }) => writable),
  }))
  const rank = ({ address, signer, writable }: TransactionAccount) =>
    address === payer ? 0 : (signer ? 1 : 3) + (writable ? 0 : 1)
  return merged.sort((one, other) => rank(one) - rank(other))
}
