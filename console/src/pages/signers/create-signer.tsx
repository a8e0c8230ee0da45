import type { Body } from '../../../../clients/typescript/src/index.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { FieldError, type Fields } from '../../parts/fields.ts'
import { FileField, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'

type Request = Body<'createSigner'>
type SignerType = Request['type']

/** A setting of a signer: its path in `config`, and how it is asked for. */
interface Setting {
  readonly path: string
  readonly label: string
  readonly hint?: string
  readonly isRequired?: true
  /** It is hidden while it is typed. The service never returns it. */
  readonly isSecret?: true
  readonly isInteger?: true
  /** It is a JSON file, and hidden as well. */
  readonly isFile?: true
  readonly of?: readonly (readonly [string, string])[]
}

interface Kind {
  readonly words: string
  /** Says what the key has to be. */
  readonly hint: string
  readonly settings: readonly Setting[]
}

const required = (path: string, label: string, hint?: string): Setting => ({
  path,
  label,
  isRequired: true,
  ...(hint !== undefined && { hint }),
})
const optional = (path: string, label: string, hint?: string): Setting => ({
  path,
  label,
  ...(hint !== undefined && { hint }),
})
const secret = (path: string, label: string, hint?: string): Setting => ({
  ...required(path, label, hint),
  isSecret: true,
})

const VAULT: readonly Setting[] = [
  required('address', 'Address', 'The server’s URL.'),
  optional('namespace', 'Namespace'),
  secret('role_id', 'Role id'),
  secret('secret_id', 'Secret id'),
]

/** The types of signers that the API creates. Those that name a file or a library of the machine are for its configuration file alone. */
const KINDS: Readonly<Record<SignerType, Kind>> = {
  generated: {
    words: 'this service, which creates it',
    hint: 'No one sees the key, and it cannot be exported. Its only copy is in the database, encrypted: back up the database and STORAGE_ENCRYPTION_KEY.',
    settings: [],
  },
  aws_kms: {
    words: 'AWS KMS',
    hint: 'ECC_SECG_P256K1 for EVM, ECC_NIST_EDWARDS25519 for Stellar and Solana. The service uses its own credentials.',
    settings: [
      required('region', 'Region', 'For example eu-west-1.'),
      required('key_id', 'Key', 'The key ID, ARN or alias (alias/…).'),
    ],
  },
  google_cloud_kms: {
    words: 'Google Cloud KMS',
    hint: 'EC_SIGN_SECP256K1_SHA256 for EVM, EC_SIGN_ED25519 for Stellar and Solana.',
    settings: [
      {
        ...optional(
          'service_account',
          'Key file of a service account',
          'The JSON file from Google. Without it, the service uses its own credentials.',
        ),
        isFile: true,
      },
      optional('key.project_id', 'Project', 'Defaults to that of the key file.'),
      optional('key.location', 'Location', 'Defaults to “global”.'),
      required('key.key_ring_id', 'Key ring'),
      required('key.key_id', 'Key'),
      { ...optional('key.key_version', 'Version', 'Defaults to 1.'), isInteger: true },
    ],
  },
  azure_key_vault: {
    words: 'Azure Key Vault',
    hint: 'A key of the type EC and the curve P-256K, for EVM.',
    settings: [
      required('vault_url', 'Vault', 'For example https://payments.vault.azure.net.'),
      required('key_name', 'Key'),
      optional('key_version', 'Version', 'Defaults to the newest.'),
      {
        ...required('auth_type', 'Authentication'),
        of: [
          ['managed_identity', 'the managed identity of its machine'],
          ['workload_identity', 'workload identity'],
          ['client_secret', 'a client secret'],
        ],
      },
      optional('tenant_id', 'Tenant'),
      optional('client_id', 'Client id'),
      { ...optional('client_secret', 'Client secret'), isSecret: true },
    ],
  },
  vault_transit: {
    words: 'HashiCorp Vault, transit engine',
    hint: 'A key of the type ed25519, for Stellar and Solana, which never leaves Vault.',
    settings: [
      ...VAULT,
      required('key_name', 'Key'),
      optional('mount_point', 'Mount', 'Defaults to “transit”.'),
      required('pubkey', 'Public key', '32 bytes in base64.'),
    ],
  },
  vault: {
    words: 'HashiCorp Vault, private key',
    hint: 'A secret of the KV engine, version 2, whose field “value” is a private key.',
    settings: [
      ...VAULT,
      required('key_name', 'Path of the secret'),
      optional('mount_point', 'Mount', 'Defaults to “secret”.'),
    ],
  },
  turnkey: {
    words: 'Turnkey',
    hint: 'A private key or a wallet account of secp256k1 (EVM) or Ed25519 (Stellar, Solana).',
    settings: [
      required('organization_id', 'Organization'),
      required('private_key_id', 'Private key', 'The key ID, or the address of the wallet account.'),
      required('public_key', 'Public key', 'In hexadecimal.'),
      required('api_public_key', 'Public part of the API key'),
      secret('api_private_key', 'Private part of the API key'),
    ],
  },
  cdp: {
    words: 'Coinbase Developer Platform',
    hint: 'An account on EVM or Solana.',
    settings: [
      required('account_address', 'Address of the account'),
      required('api_key_id', 'API key'),
      secret('api_key_secret', 'Secret of the API key'),
      secret('wallet_secret', 'Wallet secret'),
    ],
  },
  web3signer: {
    words: 'Web3Signer',
    hint: 'A key of secp256k1, for EVM.',
    settings: [
      required('url', 'Url'),
      required('public_key', 'Public key', '128 hexadecimal digits, as Web3Signer lists it.'),
    ],
  },
  mnemonic: {
    words: 'a seed phrase, in this service',
    hint: 'The phrase passes through this page and is stored encrypted. A key service is safer.',
    settings: [
      secret('mnemonic', 'Seed phrase', '12 to 24 words.'),
      { ...optional('passphrase', 'Passphrase'), isSecret: true },
      { ...optional('index', 'Account', 'Defaults to 0.'), isInteger: true },
    ],
  },
  plain: {
    words: 'a private key that you paste, in this service',
    hint: 'Anyone who sees the key can spend from its accounts, and it passes through your clipboard and this page. A key created by the service or held in a key service is safer.',
    settings: [
      secret('key', 'Private key', '64 hexadecimal digits, a Stellar seed (S…), or a Solana key pair.'),
    ],
  },
}

interface CreateSignerProps {
  readonly onDone: () => void
}

/** Creates a signer: a reference to the key in the service that holds it, or a key in this service. */
export function CreateSignerButton({ onDone }: CreateSignerProps) {
  return (
    <DialogButton isPrimary name="New signer" scope="signers:admin">
      {(close) => <CreateSignerDialog onDone={onDone} onClose={close} />}
    </DialogButton>
  )
}

interface CreateSignerDialogProps extends CreateSignerProps {
  readonly onClose: () => void
}

function CreateSignerDialog({ onDone, onClose }: CreateSignerDialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields({ type: 'generated' })
  const type = fields.values.type as SignerType
  const { hint, settings } = KINDS[type]
  return (
    <ActionDialog
      title="New signer"
      confirm="Create the signer"
      act={() => client.signers.create(signerOf(fields, type))}
      onDone={onDone}
      onClose={onClose}
    >
      <SelectField
        fields={fields}
        path="type"
        label="Key type"
        of={Object.entries(KINDS).map(([name, { words }]) => [name, words])}
        hint={hint}
        isRequired
      />
      <TextField fields={fields} path="id" label="ID" hint="Leave empty to use a UUID." />
      {settings.map((setting) => (
        // Another type has other fields, even where they have the same name.
        <SettingField key={`${type} ${setting.path}`} fields={fields} setting={setting} />
      ))}
    </ActionDialog>
  )
}

interface SettingFieldProps {
  readonly fields: Fields
  readonly setting: Setting
}

function SettingField({ fields, setting }: SettingFieldProps) {
  const { path, label, hint, isRequired = false, isSecret = false, isFile = false, of } = setting
  const rest = { fields, path: `config.${path}`, label, hint, isRequired }
  if (of !== undefined) return <SelectField {...rest} of={of} />
  if (isFile) return <FileField {...rest} accept=".json,application/json" />
  return <TextField {...rest} type={isSecret ? 'password' : 'text'} />
}

/**
 * Fields of another type that was chosen before are left out.
 * @throws FieldError for a file that is no JSON
 */
function signerOf(fields: Fields, type: SignerType): Request {
  const config: Record<string, unknown> = {}
  for (const setting of KINDS[type].settings) {
    const { path, of } = setting
    const text = fields.text(`config.${path}`) ?? of?.[0]?.[0]
    if (text !== undefined) put(config, path.split('.'), readSetting(setting, text))
  }
  const id = fields.text('id')
  return { ...(id !== undefined && { id }), type, config } as Request
}

function readSetting({ path, isInteger, isFile }: Setting, text: string): unknown {
  if (isInteger && /^\d+$/.test(text)) return Number(text)
  if (!isFile) return text
  try {
    return JSON.parse(text)
  } catch {
    throw new FieldError(`config.${path}`, 'The file is not valid JSON.')
  }
}

/** Puts a value where its path leads, and makes the objects on the way. */
function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[name] = value
    return
  }
  const inner = (into[name] ?? {}) as Record<string, unknown>
  into[name] = inner
  put(inner, rest, value)
}
