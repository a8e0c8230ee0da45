import type { Logger } from 'pino'
import { bytesToHex, getAddress } from 'viem'
import { createBatcher } from '../../batcher.ts'
import type { Clock } from '../../clock.ts'
import type { Network } from '../../networks/network.ts'
import type { Account, Answer, Chain, Draft } from '../chain.ts'
import { checkRequest } from './check.ts'
import { createRpcClient, type RpcClient } from './client.ts'
import { readBroadcast } from './failures.ts'
import { ceilingOf } from './fees.ts'
import {
  readBalance,
  readBlockHash,
  readHead,
  readNonces,
  readReceipts,
  readRevertReason,
} from './inspect.ts'
import { createMarketWatch } from './market.ts'
import { type PrepareContext, prepareDraft, prepareReplacement, prepareSpeedUp } from './prepare.ts'
import { readQuantity } from './quantity.ts'
import { signDraft, signPersonalMessage } from './sign.ts'
import { SPEEDS } from './speed.ts'

interface EvmChainOptions {
  readonly network: Network
  readonly rpcTimeoutMs: number
  readonly clock: Clock
  readonly log: Logger
}

/** One EVM network behind the `Chain` interface. */
export function createEvmChain({ network, rpcTimeoutMs, clock, log }: EvmChainOptions): Chain {
  const client = createRpcClient({ urls: network.rpcUrls, timeoutMs: rpcTimeoutMs, log })
  const eip1559 = network.features.includes('eip1559')
  const market = createMarketWatch({ client, clock, freshForMs: Math.min(network.averageBlocktimeMs, 3_000) })
  // Each accepted request asks for the balance; those that wait for the same answer share the next one.
  const balance = createBatcher<string, Answer<bigint>>({
    keyOf: (address) => address,
    maxItems: Number.POSITIVE_INFINITY,
    run: async (addresses) => {
      const answer = await readBalance(client, addresses[0] ?? '')
      return addresses.map(() => answer)
    },
  })
  const context: PrepareContext = { client, market, eip1559 }
  return {
    verify: () => verifyChainId(client, network),
    canonicalAddress: (text) => getAddress(text),
    check: (request, account) => checkRequest(request, account, eip1559),
    prepare: (request, account, knownGas) => prepareDraft(context, { request, account, knownGas }),
    replace: (request, attempts, account) => prepareReplacement(context, { request, attempts, account }),
    speedUp: (attempts, level, account) => prepareSpeedUp(context, { attempts, level, account }),
    noop: ({ address }: Account) => ({ to: address, value: 0n, data: '0x', speed: 'fast' }),
    sign: (draft, nonce, signer) => signDraft({ draft, nonce, chainId: network.chainId }, signer),
    signMessage: signPersonalMessage,
    broadcast: async (raws) => {
      const calls = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [bytesToHex(raw)] }))
      return (await client.send(calls)).map(readBroadcast)
    },
    head: () => readHead(client),
    nonces: (addresses) => readNonces(client, addresses),
    receipts: (hashes) => readReceipts(client, hashes),
    blockHash: (number) => readBlockHash(client, number),
    revertReason: (draft, from, block) => readRevertReason(client, { draft, from, block }),
    balance,
    outbid: async (draft) => {
      const answer = await market()
      if (answer.kind !== 'ok') return answer
      return { kind: 'ok', value: ceilingOf(draft.fees) < (answer.value.baseFee ?? 0n) }
    },
    cost: costOf,
    speed: (level) => SPEEDS[level],
  }
}

function costOf(draft: Draft): bigint {
  return draft.value + draft.gasLimit * ceilingOf(draft.fees)
}

/** Signing for another chain than the configured one would be valid somewhere else (EIP-155): refused at start. */
async function verifyChainId(client: RpcClient, network: Network): Promise<Answer<void>> {
  const reply = await client.call('eth_chainId', [])
  if (reply.kind !== 'result') {
    return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
  }
  const chainId = readQuantity(reply.result)
  if (chainId === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with a chain id' }
  if (chainId === BigInt(network.chainId)) return { kind: 'ok', value: undefined }
  const detail = `network ${network.name}: chain_id ${network.chainId} is configured, but its endpoint serves chain ${chainId}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
