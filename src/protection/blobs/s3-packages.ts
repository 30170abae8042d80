/** Loads the AWS SDK, which is optional: nothing loads it without a store in a bucket. */
import { missingPackage } from '../../core/base/missing-package.ts';

/** The client of the AWS SDK. */
export type S3Package = Pick<
  typeof import('@aws-sdk/client-s3'),
  | 'S3Client'
  | 'PutObjectCommand'
  | 'GetObjectCommand'
  | 'DeleteObjectsCommand'
  | 'ListObjectsV2Command'
>;

const PACKAGE = '@aws-sdk/client-s3';

/** Loads the package. @throws UsageError `blob_package` if it is missing. */
export async function loadS3(
  load: (name: string) => Promise<S3Package> = importS3,
): Promise<S3Package> {
  try {
    return await load(PACKAGE);
  } catch (cause) {
    throw missingPackage(cause, {
      code: 'blob_package',
      name: PACKAGE,
      what: 'a blob store in a bucket',
      // Releases from 2027 on need Node 22.
      install: `npm install ${PACKAGE}@3.1173.0`,
    });
  }
}

/** Bundlers leave the package out: without it, they would fail. */
async function importS3(name: string): Promise<S3Package> {
  return (await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name
  )) as S3Package;
}
