import { join } from 'node:path'
import { type Address, address, getAddressEncoder } from '@solana/kit'
import { KoraClient } from '@solana/kora/dist/src/client.js'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  type Step,
  signContent,
  transferTokens,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { plainSigner, type Service, startService } from '../../support/service.ts'
import { addressOf, MAIN, SOL, seedOf, solanaConfig } from '../../support/solana-scenario.ts'
import { untilReady } from '../x402/plugin-entry.ts'

/** The key of a caller of the plugin that asks for keys. */
export const KORA_KEY = 'a-key-for-the-callers-of-kora'

/** The owner of what users pay to the plugin `keyed`. */
export const TREASURY = createWallet()

/** Tokens with six decimals at 150 for a SOL. In the last ones nobody should be paid: Token-2022 can take them back, or calls a hook. */
export const USDC = createWallet().address
export const TWENTY_TWO = createWallet().address
/** Users may take back what they pay in this one. */
export const DELEGATED = createWallet().address
export const EXTENDED = {
  'a transfer fee': { mint: createWallet().address, extension: 1, bytes: 108 },
  'a permanent delegate': { mint: createWallet().address, extension: 12, bytes: 32 },
  'a transfer hook': { mint: createWallet().address, extension: 14, bytes: 64 },
}

/** The price of a transaction with two signatures: 10,000 lamports at 150, one percent on top. */
export const PRICE = 1_515n

/** The policies of the relayer. */
function policies(): object {
  const source = { price: { sources: [{ type: 'fixed', price: '150' }] } }
  const mints = [USDC, TWENTY_TWO, DELEGATED, ...Object.values(EXTENDED).map(({ mint }) => mint)]
  return { fee_payment_strategy: 'relayer', allowed_tokens: mints.map((mint) => ({ mint, ...source })) }
}

/** A service that is a paymaster in four ways, and words for its users. */
export interface Paymaster {
  readonly solana: TestSolana
  readonly service: Service
  readonly relayer: Address
  /** Its account of USDC. */
  readonly paid: Address
  client(name?: string, apiKey?: string, hmacSecret?: string): KoraClient
  /** Calls a method, and returns the whole answer. */
  call(method: string, params: unknown, name?: string): Promise<Reply>
  /** Lets the user spend what an owner has of `DELEGATED`. */
  delegate(owner: Address, user: Address): Promise<Address>
  /** Has ten USDC, and no SOL. */
  user(): Promise<User>
  /** Gives an owner tokens. */
  hold(owner: Address, amount: bigint, token?: Token): Promise<Address>
  balance(owner: Address, token?: Token): Promise<bigint>
  /** Signs steps as the user, with the relayer as the fee payer. */
  transaction(user: User, steps: readonly Step[], cosigners?: readonly Wallet[]): string
  lamports(): bigint
  stop(): Promise<void>
}

export interface Token {
  readonly mint: Address
  readonly program?: Address
}

export interface User extends Wallet {
  readonly tokens: Address
  /** A payment to the relayer. */
  pay(amount?: bigint): Step
}

export interface Reply {
  readonly id: unknown
  readonly result?: Record<string, unknown>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data: Record<string, unknown>
  }
}

/** What differs from the paymaster of most tests. */
export interface PaymasterOptions {
  /** The plugins by their ids, with their `config` and the other fields of their entries. */
  readonly plugins?: Readonly<Record<string, { readonly config?: object; readonly more?: object }>>
  readonly policies?: object
  /** Relayers besides `main`, with the same policies. */
  readonly others?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Variables that depend on the network. */
  readonly envOf?: (solana: TestSolana) => Promise<Readonly<Record<string, string>>>
}

const FOUR_WAYS: NonNullable<PaymasterOptions['plugins']> = {
  kora: {},
  free: { config: { price: 'free', disabled_methods: ['transferTransaction'] } },
  keyed: {
    config: { api_keys_env: 'KORA_KEYS', payment_address: TREASURY.address },
    more: { env: ['KORA_KEYS'], forward_headers: ['x-api-key'] },
  },
  quota: { more: { rules: { user_limits: [{ per: 'day', count: 1 }] } } },
}

/** Starts it. The plugins are `kora`, `free`, `keyed` and `quota`, unless the options have others. */
export async function startPaymaster({
  plugins = FOUR_WAYS,
  policies: morePolicies = {},
  others = [],
  env = {},
  envOf = async () => ({}),
}: PaymasterOptions = {}): Promise<Paymaster> {
  const solana = await startSolana({ slotMs: 200 })
  solana.airdrop(MAIN, 10n * SOL)
  for (const mint of [USDC, DELEGATED]) plantMint(solana, mint, { decimals: 6 })
  plantMint(solana, TWENTY_TWO, { decimals: 6, program: TOKEN_2022_PROGRAM })
  for (const one of Object.values(EXTENDED)) plantExtended(solana, one)
  const entry = (id: string, config: object = {}, more: object = {}) => ({
    id,
    path: join(import.meta.dirname, '../../../plugins/kora/index.ts'),
    mount: `/${id}`,
    open_mount: true,
    raw_response: true,
    scopes: ['relayers:read', 'transactions:read', 'transactions:write', 'sign', 'rpc'],
    config: { ...('relayers' in config ? {} : { relayer_id: 'main' }), ...config },
    ...more,
  })
  const base = solanaConfig(solana, { policies: { ...policies(), ...morePolicies } })
  const relayers = base.relayers ?? []
  for (const name of others) solana.airdrop(address(addressOf(name)), 10n * SOL)
  const service = await startService({
    ...base,
    signers: [
      ...(base.signers ?? []),
      ...others.map((name) => plainSigner(name, Buffer.from(seedOf(name)).toString('hex'))),
    ],
    relayers: [...relayers, ...others.map((id) => ({ ...relayers[0], id, signer_id: id }))],
    plugins: Object.entries(plugins).map(([id, { config, more }]) =>
      entry(id, config, { relayers: ['main', ...others], ...more }),
    ),
    env: { KORA_KEYS: `app:${KORA_KEY}`, ...env, ...(await envOf(solana)) },
  })
  for (const id of Object.keys(plugins)) await untilReady(service, id)
  const hold: Paymaster['hold'] = async (
    owner,
    amount,
    { mint, program = TOKEN_PROGRAM } = { mint: USDC },
  ) => {
    const at = await associatedAddress(owner, mint, program)
    plantTokens(solana, at, { mint, owner, amount, program })
    return at
  }
  const paid = await hold(SELF, 0n)
  await hold(SELF, 0n, { mint: TWENTY_TWO, program: TOKEN_2022_PROGRAM })
  const urlOf = (name: string) => `${service.url}/${name}/rpc`
  return {
    solana,
    service,
    relayer: SELF,
    paid,
    hold,
    client: (name = 'kora', apiKey, hmacSecret) =>
      new KoraClient({
        rpcUrl: urlOf(name),
        ...(apiKey && { apiKey }),
        ...(hmacSecret && { hmacSecret }),
      }),
    call: async (method, params, name = 'kora') => {
      const response = await fetch(urlOf(name), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      })
      return (await response.json()) as Reply
    },
    delegate: async (owner, user) => {
      const at = await hold(owner, 0n, { mint: DELEGATED })
      const account = solana.account(at)
      if (account === undefined) throw new Error('it was planted')
      const data = Buffer.from(account.data)
      data.writeUInt32LE(1, 72)
      data.set(getAddressEncoder().encode(user), 76)
      data.writeBigUInt64LE(1_000_000n, 121)
      solana.plant(at, { ...account, data: Uint8Array.from(data) })
      return at
    },
    user: async () => {
      const wallet = createWallet()
      const at = await hold(wallet.address, 10_000_000n)
      return {
        ...wallet,
        tokens: at,
        pay: (amount = PRICE) => transferTokens(at, paid, wallet.address, amount),
      }
    },
    balance: async (owner, { mint, program } = { mint: USDC }) => {
      const account = solana.account(await associatedAddress(owner, mint, program))
      return account ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
    },
    transaction: (user, steps, cosigners = []) => {
      const { blockhash } = solana.blocks.at(-3) ?? { blockhash: '' }
      return signContent({ signers: [AS_PAYER, user, ...cosigners], blockhash, steps }).base64
    },
    lamports: () => solana.account(MAIN)?.lamports ?? 0n,
    stop: async () => {
      await service.stop()
      await solana.stop()
    },
  }
}

/** A mint of Token-2022 with one extension, whose content is the first wallet that comes. */
function plantExtended(
  solana: TestSolana,
  { mint, extension, bytes }: { mint: Address; extension: number; bytes: number },
): void {
  const data = Buffer.alloc(166 + 4 + bytes)
  data.writeUInt8(6, 44)
  data.writeUInt8(1, 45)
  data.writeUInt8(1, 165)
  data.writeUInt16LE(extension, 166)
  data.writeUInt16LE(bytes, 168)
  data.set(getAddressEncoder().encode(createWallet().address), 170)
  const lamports = solana.rentExemption(data.length)
  solana.plant(mint, { lamports, data: Uint8Array.from(data), owner: TOKEN_2022_PROGRAM, executable: false })
}
