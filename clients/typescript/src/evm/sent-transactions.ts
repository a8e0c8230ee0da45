import { RelayerApiError } from '../errors/api-error.ts'
import type { Body } from '../operation-types.ts'
import { sendUntilSigned } from '../transactions/send-until-signed.ts'
import type { Transaction } from '../transactions/wait-for.ts'
import { BoundedMap } from './bounded-map.ts'
import type { EvmRelayer } from './evm-relayer.ts'

/** The transactions of a relayer by the hashes of their attempts. */
export interface SentTransactions {
  /** Sends a transaction, and resolves to it as soon as it is signed. */
  send(body: Body<'sendTransaction'>): Promise<Transaction>
  /**
   * The transaction that has an attempt with this hash, as it is now, whichever process has sent it; undefined if the relayer has none, or the
   * API key may not see it.
   */
  find(hash: string): Promise<Transaction | undefined>
}

/** The provider forgets the oldest hashes when it knows more, and then asks the service: each needs about 200 bytes. */
const MOST_HASHES = 10_000

/** Makes the memory of a provider. */
export function createSentTransactions({ client, relayerId }: EvmRelayer): SentTransactions {
  const ids = new BoundedMap<string, string>(MOST_HASHES)

  function remember({ id, attempts = [] }: Transaction): void {
    for (const { hash } of attempts) ids.set(hash.toLowerCase(), id)
  }

  async function search(hash: string): Promise<string | undefined> {
    if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined
    const page = await client.transactions.search({ hash, relayer_id: relayerId }).page().catch(orNone)
    return page?.items[0]?.id
  }

  return {
    send: async (body) => {
      const transaction = await sendUntilSigned({ client, relayerId }, body)
      remember(transaction)
      return transaction
    },
    find: async (passed) => {
      const hash = passed.toLowerCase()
      const id = ids.get(hash) ?? (await search(hash))
      if (id === undefined) return undefined
      ids.set(hash, id)
      return client.transactions.get(relayerId, id)
    },
  }
}

function orNone(error: unknown): undefined {
  if (!(error instanceof RelayerApiError && error.code === 'insufficient_scope')) throw error
}
