import type { KMSClient, Tag } from '@aws-sdk/client-kms'
import { region, SPECS, toRemoteFault } from '../key-services/aws-kms.ts'
import { loadPackage } from '../providers/provider.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { type KeyMaker, type MakerContext, otherKey, type WantedKey } from './key-maker.ts'

interface AwsTarget {
  readonly region: string
}

/** The tags of a created key: the signer for people and policies, and the name by which the key is found. */
const SIGNER_TAG = 'relayer-signer'
const NAME_TAG = 'relayer-key'

/**
 * Creates keys in AWS KMS. CreateKey is not idempotent, and KMS finds no key by a tag: after a lost answer,
 * the tags of all keys of the account and region are read.
 */
export const awsKeyMaker: KeyMaker<AwsTarget> = {
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({ region: fields.get('region', region) }),
  show: ({ region: name }) => ({ region: name }),
  nameOf: (target) => `AWS KMS in ${target.region}`,
  find: (target, key, context) => withClient(target, (client) => find(client, key, context)),
  create: (target, key, context) =>
    withClient(target, async (client) => ({ kind: 'made', fields: await create(client, key, context) })),
  advice:
    'To forbid its deletion, deny kms:ScheduleKeyDeletion and kms:DisableKey in the policy of the key. To delete it, once its accounts are empty: aws kms schedule-key-deletion.',
}

async function withClient<T>(target: AwsTarget, work: (client: KMSClient) => Promise<T>): Promise<T> {
  const { KMSClient } = await loadKms()
  // A repetition inside the SDK could create a second key.
  const client = new KMSClient({ region: target.region, maxAttempts: 1 })
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

function loadKms() {
  return loadPackage('@aws-sdk/client-kms', () => import('@aws-sdk/client-kms'))
}

async function create(client: KMSClient, { curve, name, signerId }: WantedKey, context: MakerContext) {
  const { CreateKeyCommand } = await loadKms()
  const command = new CreateKeyCommand({
    KeySpec: SPECS[curve],
    KeyUsage: 'SIGN_VERIFY',
    Origin: 'AWS_KMS',
    Description: `Relayer signer ${signerId}`,
    Tags: [
      { TagKey: SIGNER_TAG, TagValue: signerId },
      { TagKey: NAME_TAG, TagValue: name },
    ],
  })
  const { KeyMetadata } = await client.send(command, limited(context)).catch((error: unknown) => {
    throw creationFault(error)
  })
  if (KeyMetadata?.Arn === undefined) throw new RemoteFault('unavailable', 'returned no key')
  return { key_id: KeyMetadata.Arn }
}

/** The most keys of an account and region whose tags are read. A region has 100,000 at most. */
const MAX_KEYS = 10_000

async function find(client: KMSClient, key: WantedKey, context: MakerContext) {
  const { ListKeysCommand, ListResourceTagsCommand } = await loadKms()
  const ask = async <T>(answer: Promise<T>): Promise<T> => {
    context.signal.throwIfAborted()
    return answer.catch((error: unknown) => {
      throw searchFault(error)
    })
  }
  let seen = 0
  for (let marker: string | undefined; ; ) {
    const page = await ask(
      client.send(new ListKeysCommand({ Limit: 1_000, Marker: marker }), limited(context)),
    )
    for (const { KeyId, KeyArn } of page.Keys ?? []) {
      const { Tags } = await ask(
        client.send(new ListResourceTagsCommand({ KeyId, Limit: 50 }), limited(context)),
      )
      if (hasName(Tags, key.name)) return { key_id: await checked(client, { key, arn: KeyArn }, context) }
    }
    seen += page.Keys?.length ?? 0
    marker = page.NextMarker ?? undefined
    if (marker === undefined || page.Truncated !== true) return undefined
    if (seen >= MAX_KEYS)
      throw new RemoteFault('refused', `has more than ${MAX_KEYS} keys, too many to look for one by its tag`)
  }
}

function hasName(tags: readonly Tag[] | undefined, name: string): boolean {
  return tags?.some(({ TagKey, TagValue }) => TagKey === NAME_TAG && TagValue === name) ?? false
}

/** A tag can be moved, and a key can be imported: only one that KMS created itself was never anywhere else. */
async function checked(
  client: KMSClient,
  { key, arn = '' }: { readonly key: WantedKey; readonly arn: string | undefined },
  context: MakerContext,
): Promise<string> {
  const { DescribeKeyCommand } = await loadKms()
  const { KeyMetadata } = await client
    .send(new DescribeKeyCommand({ KeyId: arn }), limited(context))
    .catch((error: unknown) => {
      throw searchFault(error)
    })
  if (KeyMetadata?.Origin !== 'AWS_KMS') throw otherKey(key, `has the origin ${KeyMetadata?.Origin}`)
  if (KeyMetadata.KeySpec !== SPECS[key.curve])
    throw otherKey(key, `has the specification ${KeyMetadata.KeySpec}`)
  return arn
}

function limited({ timeoutMs }: MakerContext) {
  return { abortSignal: AbortSignal.timeout(timeoutMs) }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && error.name === 'AccessDeniedException'
}

function creationFault(error: unknown): RemoteFault {
  if (isDenied(error))
    return new RemoteFault(
      'refused',
      'does not let this service create keys: allow it kms:CreateKey and kms:TagResource (AccessDeniedException)',
      { cause: error },
    )
  const name = error instanceof Error ? error.name : ''
  if (name === 'ValidationException' || name === 'UnsupportedOperationException')
    return new RemoteFault('refused', `creates no key of this kind in this region (${name})`, {
      cause: error,
    })
  // It is in the list of throttled calls, where it means too many requests; here it is the number of keys.
  if (name === 'LimitExceededException')
    return new RemoteFault(
      'refused',
      'has no room for a further key: raise the quota of keys (LimitExceededException)',
      { cause: error },
    )
  return toRemoteFault(error)
}

function searchFault(error: unknown): RemoteFault {
  if (!isDenied(error)) return toRemoteFault(error)
  return new RemoteFault(
    'refused',
    'does not let this service look for the key, which may exist: allow it kms:ListKeys, kms:ListResourceTags and kms:DescribeKey on all keys (AccessDeniedException)',
    { cause: error },
  )
}
