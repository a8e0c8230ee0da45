import { onTestFinished } from 'vitest'
import { type SolanaOptions, startSolana, type TestSolana } from '../start-solana.ts'
import { createWallet, type Signed, type Step, signContent, type Wallet } from '../wallet.ts'

/** One lamport in a thousand million is a SOL. */
export const SOL = 1_000_000_000n

/** A reply of the node. */
export interface Reply {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A network that ends with the test, and the words for talking to it. */
export interface Desk {
  readonly solana: TestSolana
  /** A wallet with 10 SOL. */
  readonly payer: Wallet
  /** The `result` of a call; throws when there is an error. */
  ask<Result = unknown>(method: string, ...params: unknown[]): Promise<Result>
  /** The reply to a call, whatever it is; `url` is that of a replica. */
  reply(method: string, params: readonly unknown[], url?: string): Promise<Reply>
  /** A blockhash at this commitment. */
  blockhash(commitment?: string): Promise<string>
  /** These steps, signed by the payer on a processed blockhash. */
  signed(...steps: Step[]): Promise<Signed>
  /** Sends it at commitment `processed`; gives the signature. */
  send(signed: Signed, options?: object): Promise<string>
  /** Reads the status of a transaction. */
  status(signature: string): Promise<Status | null>
}

/** One entry of `getSignatureStatuses`. */
export interface Status {
  readonly slot: number
  readonly confirmations: number | null
  readonly err: unknown
  readonly confirmationStatus: string
}

/** Sets it up; blocks come by `tick` only. */
export async function openDesk(options: SolanaOptions = {}): Promise<Desk> {
  const solana = await startSolana({ slotMs: 'manual', ...options })
  onTestFinished(() => solana.stop())
  const payer = createWallet()
  solana.airdrop(payer.address, 10n * SOL)
  const reply: Desk['reply'] = (method, params, url = solana.url) => post(url, method, params)
  const ask = async <Result>(method: string, ...params: unknown[]) => {
    const { result, error } = await reply(method, params)
    if (error) throw new Error(`${method}: ${error.code} ${error.message} ${JSON.stringify(error.data)}`)
    return result as Result
  }
  const blockhash = async (commitment = 'processed') => {
    const { value } = await ask<{ value: { blockhash: string } }>('getLatestBlockhash', { commitment })
    return value.blockhash
  }
  return {
    solana,
    payer,
    ask,
    reply,
    blockhash,
    signed: async (...steps) => signContent({ signers: [payer], blockhash: await blockhash(), steps }),
    send: ({ base64 }, config = {}) =>
      ask('sendTransaction', base64, { encoding: 'base64', preflightCommitment: 'processed', ...config }),
    async status(signature) {
      const { value } = await ask<{ value: (Status | null)[] }>('getSignatureStatuses', [signature])
      return value[0] ?? null
    },
  }
}

async function post(url: string, method: string, params: readonly unknown[]): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as Reply
}
