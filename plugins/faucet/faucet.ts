import { type PluginContext, pluginError } from 'multichain-relayer-client/plugin'

/** The request of someone who needs coins of a test network. */
interface Request {
  readonly address: string
}

/** The entry of the plugin in the configuration file has these fields in `config`. */
interface Settings {
  readonly relayer: string
  /** Wei for each request. */
  readonly amount: string
  /** Seconds until the same address can ask again. */
  readonly every: number
}

/** Sends coins of a test network to whoever asks, to each address once in a while. */
export async function handler({ api, kv, params, config }: PluginContext<Request, Settings>) {
  if (config === undefined) throw pluginError('The faucet has no config.', { code: 'NO_CONFIG' })
  const address = String(params?.address).toLowerCase()
  if (!/^0x[0-9a-f]{40}$/.test(address))
    throw pluginError('address: expected 0x and 40 hex digits', { code: 'INVALID_ADDRESS', status: 400 })

  // Without the lock, two requests at the same time would both find no note of an earlier one.
  return kv.withLock(address, async () => {
    const period = Math.floor(Date.now() / 1_000 / config.every)
    if (await kv.exists(`paid:${address}`))
      throw pluginError('This address was paid already.', { code: 'TOO_EARLY', status: 429 })
    // If the process ends between the two writes, the next request has the same key, and pays nothing twice.
    const sent = await api
      .useRelayer(config.relayer)
      .sendTransaction(
        { to: address, value: config.amount, speed: 'average' },
        { idempotencyKey: `faucet-${address}-${period}` },
      )
    await kv.set(`paid:${address}`, sent.id, { ttlSec: config.every })
    console.log(`paid ${address}`)
    return { transaction_id: sent.id, amount: config.amount }
  })
}
