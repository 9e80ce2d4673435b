package tests;

import com.microsoft.azure.storage.RetryNoRetry;
import com.microsoft.azure.storage.table.CloudTableClient;

/** azure-storage 8.6.6, as it is. */
final class Library {
  static CloudTableClient configured(CloudTableClient client) {
    client.getDefaultRequestOptions().setRetryPolicyFactory(new RetryNoRetry()); // retries would only hide a 5xx
    return client;
  }

  private Library() {}
}
