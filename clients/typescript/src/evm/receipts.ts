import { includedAttempt } from '../transactions/attempts.ts'
import type { EvmRelayer } from './evm-relayer.ts'
import { readText } from './parameters.ts'
import type { SentTransactions } from './sent-transactions.ts'

/** The reads of transactions by their hash. They follow the service from a replaced attempt to the one that counts. */
export interface Receipts {
  /** Finds the receipt of the attempt that the chain includes, of the transaction that has one with this hash, or null. */
  receipt(hash: unknown): Promise<unknown>
  /** Finds the attempt that the chain includes, or else the newest one, as a node shows it, or null. */
  transaction(hash: unknown): Promise<unknown>
}

/** Makes the reads. They query a node first, because it sees a block before the service does. */
export function createReceipts({ forward }: EvmRelayer, sent: SentTransactions): Receipts {
  const ask = (method: string, hash: string) => forward(method, [hash])
  return {
    receipt: async (passed) => {
      const hash = readText(passed, 'hash')
      const receipt = await ask('eth_getTransactionReceipt', hash)
      if (receipt !== null) return receipt
      const known = await sent.find(hash)
      const included = known && includedAttempt(known)
      return included ? ask('eth_getTransactionReceipt', included.hash) : null
    },
    transaction: async (passed) => {
      const hash = readText(passed, 'hash')
      const transaction = await ask('eth_getTransactionByHash', hash)
      if (transaction !== null) return transaction
      const known = await sent.find(hash)
      const shown = known && (includedAttempt(known) ?? known.attempts?.at(-1))
      return shown ? ask('eth_getTransactionByHash', shown.hash) : null
    },
  }
}
