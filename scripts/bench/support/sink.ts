import { signDraft } from '../../../src/chains/evm/sign.ts'
import { createSecp256k1Signer } from '../../../src/signers/secp256k1.ts'
import { DEV_KEYS, RECEIVER } from '../../../test/support/service.ts'
import { startChain } from './chain.ts'

/** As large as the service's own batches. */
const BATCH = 100

const DRAFT = {
  type: 'evm',
  to: RECEIVER,
  value: 1n,
  data: '0x',
  gasLimit: 21_000n,
  fees: { kind: 'eip1559', maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
} as const

/** How many transactions per second a fresh anvil takes when they are signed beforehand and nothing else is done. */
export async function measureSink(count: number): Promise<number> {
  const transactions = await presign(count)
  const anvil = await startChain()
  try {
    const start = performance.now()
    for (let at = 0; at < count; at += BATCH) await push(anvil.url, transactions.slice(at, at + BATCH))
    return (count / (performance.now() - start)) * 1000
  } finally {
    await anvil.stop()
  }
}

async function presign(count: number): Promise<string[]> {
  const signer = createSecp256k1Signer('sink', Buffer.from(DEV_KEYS[0].slice(2), 'hex'))
  const signed: string[] = []
  for (let nonce = 0n; nonce < count; nonce += 1n) {
    const { raw } = await signDraft({ draft: DRAFT, nonce, chainId: 31337 }, signer)
    signed.push(`0x${Buffer.from(raw).toString('hex')}`)
  }
  return signed
}

async function push(url: string, batch: readonly string[]): Promise<void> {
  const calls = batch.map((raw, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_sendRawTransaction',
    params: [raw],
  }))
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls),
  })
  const text = await answer.text()
  if (text.includes('"error"')) throw new Error(`the node refused a transaction: ${text.slice(0, 200)}`)
}
