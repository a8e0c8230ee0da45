import type { SolanaInstruction } from '../content.ts'
import type { Message } from '../wire/message.ts'

type StaticAddress = Message['staticAccounts'][number]

/** A placeholder until the blockhash is known. */
const NO_BLOCKHASH = '11111111111111111111111111111111'

/** Builds the message of these instructions, with `payer` as the fee payer and only signer. */
export function composeMessage(payer: string, instructions: readonly SolanaInstruction[]): Message {
  const writable = new Set([payer])
  const addresses = new Set([payer])
  for (const { accounts } of instructions) {
    for (const { pubkey, isWritable } of accounts) {
      addresses.add(pubkey)
      if (isWritable) writable.add(pubkey)
    }
  }
  for (const { programId } of instructions) addresses.add(programId)
  const order = [
    ...[...addresses].filter((address) => writable.has(address)),
    ...[...addresses].filter((address) => !writable.has(address)),
  ]
  const indexOf = new Map(order.map((address, index) => [address, index]))
  return {
    version: 'legacy',
    header: {
      numSignerAccounts: 1,
      numReadonlySignerAccounts: 0,
      numReadonlyNonSignerAccounts: order.length - writable.size,
    },
    staticAccounts: order as StaticAddress[],
    lifetimeToken: NO_BLOCKHASH,
    instructions: instructions.map(({ programId, accounts, data }) => ({
      programAddressIndex: indexOf.get(programId) ?? 0,
      accountIndices: accounts.map(({ pubkey }) => indexOf.get(pubkey) ?? 0),
      data: Uint8Array.from(Buffer.from(data, 'base64')),
    })),
  }
}
