import { type FieldType, text } from '../../../lib/fields/field-types.ts'
import { createCdpClient } from '../../cdp/cdp-client.ts'
import { connectCdp } from '../../cdp/cdp-key.ts'
import { type CdpSecrets, createCdpAuthorizer } from '../../cdp/tokens.ts'
import type { RemoteProvider } from '../provider.ts'

interface CdpConfig extends CdpSecrets {
  readonly accountAddress: string
}

/** Accounts of Solana are refused: the platform signs their transactions and texts, not the bytes that this service needs signed. */
const evmAccount: FieldType<string> = {
  expected: 'the address of an EVM account: 0x and 40 hex digits (accounts of Solana are not supported)',
  read: (value) => (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? value : undefined),
  blank: '',
}

/** An EVM account of the Coinbase Developer Platform. */
export const cdp: RemoteProvider<CdpConfig> = {
  kind: 'remote',
  curves: ['secp256k1'],
  read: (fields) => ({
    apiKeyId: fields.get('api_key_id', text),
    apiKeySecret: fields.secret('api_key_secret'),
    walletSecret: fields.secret('wallet_secret'),
    accountAddress: fields.get('account_address', evmAccount),
  }),
  show: ({ apiKeyId, accountAddress }) => ({ api_key_id: apiKeyId, account_address: accountAddress }),
  connect: async (config, context) => {
    const authorizer = createCdpAuthorizer(config)
    return connectCdp({ ...config, cdp: createCdpClient({ ...context, authorizer }) })
  },
}
