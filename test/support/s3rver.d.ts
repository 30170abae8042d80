declare module 's3rver' {
  import type { RequestListener } from 'node:http';

  /** A store that speaks the protocol of S3, over a folder; the parts that tests use. */
  export default class S3rver {
    constructor(options: {
      readonly directory: string;
      readonly silent: boolean;
      readonly resetOnClose: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    configureBuckets(): Promise<unknown>;
    callback(): RequestListener;
  }
}
