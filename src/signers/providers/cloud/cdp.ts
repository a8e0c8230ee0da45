import { type FieldType, text } from '../../../lib/fields/field-types.ts'
import { createCdpClient } from '../../cdp/cdp-client.ts'
import { connectCdp } from '../../cdp/cdp-key.ts'
import { type CdpSecrets, createCdpAuthorizer } from '../../cdp/tokens.ts'
import type { RemoteProvider } from '../provider.ts'

interface CdpConfig extends CdpSecrets {
  readonly accountAddress: string
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

const account: FieldType<string> = {
  expected: 'the address of an EVM account (0x and 40 hex digits) or of a Solana account (base58)',
  read: (value) =>
    typeof value === 'string' && (EVM_ADDRESS.test(value) || SOLANA_ADDRESS.test(value)) ? value : undefined,
  blank: '',
}

/**
 * An account of the Coinbase Developer Platform, of EVM or Solana. The platform signs transactions and texts of Solana as it reads them, so the
 * key of a Solana account cannot sign the hashes of Stellar.
 */
export const cdp: RemoteProvider<CdpConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  notFor: ['stellar'],
  read: (fields) => ({
    apiKeyId: fields.get('api_key_id', text),
    apiKeySecret: fields.secret('api_key_secret'),
    walletSecret: fields.secret('wallet_secret'),
    accountAddress: fields.get('account_address', account),
  }),
  show: ({ apiKeyId, accountAddress }) => ({ api_key_id: apiKeyId, account_address: accountAddress }),
  connect: async (config, context) => {
    const authorizer = createCdpAuthorizer(config)
    const options = { ...config, cdp: createCdpClient({ ...context, authorizer }) }
    if (EVM_ADDRESS.test(config.accountAddress)) return connectCdp(options)
    const { connectCdpSolana } = await import('../../cdp/cdp-solana-key.ts')
    return connectCdpSolana(options)
  },
}
