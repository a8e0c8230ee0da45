import { randomBytes } from 'node:crypto'
import { type Delegation, type SmartAccountsEnvironment, signDelegation } from '@metamask/smart-accounts-kit'
import { createx402DelegationProvider } from '@metamask/smart-accounts-kit/experimental'
import { deploySmartAccountsEnvironment, encodeDelegations } from '@metamask/smart-accounts-kit/utils'
import { createPublicClient, createWalletClient, type Hex, http, toHex, zeroHash } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { type EvmSite, NETWORK, RELAYER } from './evm-site.ts'

/** The Delegation Framework of MetaMask, as it is deployed on a chain. */
export type Framework = SmartAccountsEnvironment

/** Deploys it. With `mine`, a chain that makes no blocks by itself makes them meanwhile. */
export async function deployFramework({ anvil }: Pick<EvmSite, 'anvil'>): Promise<Framework> {
  const client = { chain: foundry, transport: http(anvil.url), pollingInterval: 20 }
  const wallet = createWalletClient({ account: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720', ...client })
  return deploySmartAccountsEnvironment(wallet, createPublicClient(client) as never, foundry)
}

/** A key whose account delegates to MetaMask's account (EIP-7702). */
export interface Delegator extends PrivateKeyAccount {
  readonly privateKey: Hex
}

/** Makes one that has so many units of the token. */
export async function newDelegator(
  { anvil, mint }: Pick<EvmSite, 'anvil' | 'mint'>,
  framework: Framework,
  units = 1_000_000n,
): Promise<Delegator> {
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  const { EIP7702StatelessDeleGatorImpl = '0x' } = framework.implementations
  await anvil.rpc('anvil_setCode', [account.address, `0xef0100${EIP7702StatelessDeleGatorImpl.slice(2)}`])
  if (units > 0n) await mint(account.address, units)
  return { ...account, privateKey }
}

/** What a test requires. */
export interface Terms {
  readonly token: Hex
  readonly payTo: Hex
  readonly amount?: bigint
  readonly extra?: object
}

/** What a resource server requires of a payment by delegation. */
export function requirementsOf({ token, payTo, amount = 10_000n, extra }: Terms) {
  return {
    scheme: 'exact',
    network: NETWORK,
    amount: amount.toString(),
    asset: token,
    payTo,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'Test Dollar',
      version: '2',
      assetTransferMethod: 'erc7710',
      facilitatorAddresses: [RELAYER],
      ...extra,
    },
  }
}

/** Makes the body of a request to verify or to settle a payment, as a resource server sends it. */
export function bodyOf(requirements: object, payload: object) {
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://shop.example/report' },
      accepted: requirements,
      payload,
    },
    paymentRequirements: requirements,
  }
}

/** Pays as the provider of MetaMask's kit does: with a new delegation for anyone, that only the facilitator may redeem. */
export async function delegatedBy(payer: Delegator, framework: Framework, terms: Terms) {
  const requirements = requirementsOf(terms)
  const provider = createx402DelegationProvider({ account: payer, environment: framework })
  return bodyOf(requirements, { ...(await provider(requirements)) })
}

/** What a delegation of a test says. */
export interface Given {
  readonly from: Hex
  readonly to?: Hex
  readonly caveats?: readonly { readonly enforcer: Hex; readonly terms?: Hex }[]
  readonly authority?: Hex
}

/** The authority of a delegation by the account itself. */
const ROOT: Hex = `0x${'ff'.repeat(32)}`

/** Signs a delegation; with `key` undefined, the account accepts every signature. */
export async function give(
  { from, to = RELAYER, caveats = [], authority = ROOT }: Given,
  { framework, key }: { readonly framework: Framework; readonly key: Hex | undefined },
): Promise<Delegation> {
  const delegation = {
    delegate: to,
    delegator: from,
    authority,
    caveats: caveats.map(({ enforcer, terms = '0x' }) => ({ enforcer, terms, args: '0x' as const })),
    salt: toHex(randomBytes(32)),
  }
  const signature =
    key === undefined
      ? zeroHash
      : await signDelegation({
          privateKey: key,
          delegation,
          delegationManager: framework.DelegationManager,
          chainId: 31337,
          allowInsecureUnrestrictedDelegation: true,
        })
  return { ...delegation, signature }
}

/** Makes the payload of a chain of delegations. */
export function payloadOf(framework: Framework, delegations: readonly Delegation[], delegator?: Hex) {
  return {
    delegationManager: framework.DelegationManager,
    permissionContext: encodeDelegations([...delegations]),
    delegator: delegator ?? delegations.at(-1)?.delegator,
  }
}
