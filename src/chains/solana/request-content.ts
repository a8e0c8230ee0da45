import type { SolanaInstruction, SolanaRequest } from './content.ts'
import { accountsOf, SYSTEM_PROGRAM } from './wire/addresses.ts'
import { isMultiSigner, type Message, openTransaction } from './wire/message.ts'
import { openOutflow } from './wire/system-instruction.ts'

/** Returns the message of a checked request, and the field that contains it. */
export function contentOf(
  { transaction, instructions = [] }: Pick<SolanaRequest, 'transaction' | 'instructions'>,
  self: string,
): { readonly message: Message; readonly at: 'transaction' | 'instructions' } {
  return transaction === undefined
    ? { message: composeMessage(self, instructions), at: 'instructions' }
    : { message: openTransaction(transaction).message, at: 'transaction' }
}

/**
 * Returns true if the service can sign the content again with another blockhash: not when others have signed
 * it too.
 */
export function isReSignable({ transaction }: SolanaRequest): boolean {
  return transaction === undefined || !isMultiSigner(openTransaction(transaction).message)
}

/**
 * Returns the lamports that the request openly moves out of the fee payer's account, before any fee is known.
 */
export function amountOutOf(request: SolanaRequest): bigint {
  const payer = payerOf(request)
  if (payer === undefined) return 0n
  const { message } = contentOf(request, payer)
  return openOutflow(message, accountsOf(message), payer)
}

/**
 * Only the relayer signs instructions, so every signer in them, and every source of a system transfer, is the
 * relayer.
 */
function payerOf({ transaction, instructions = [] }: SolanaRequest): string | undefined {
  if (transaction !== undefined) return openTransaction(transaction).message.staticAccounts[0]
  const signer = instructions.flatMap(({ accounts }) => accounts).find(({ isSigner }) => isSigner)
  const source = instructions.find(({ programId }) => programId === SYSTEM_PROGRAM)?.accounts[0]
  return (signer ?? source)?.pubkey
}

/** Returns the request that does nothing except pay its fee. */
export function noop(): SolanaRequest {
  return { type: 'solana', instructions: [], speed: 'average' }
}

/** Returns true for the service's own request that does nothing. */
export function isNoop({ instructions }: SolanaRequest): boolean {
  return instructions?.length === 0
}

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
